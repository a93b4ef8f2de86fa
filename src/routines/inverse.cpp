// SPDX-License-Identifier: BSD-3-Clause
// trtri, lauum and potri: the inverse of a triangle, the product of a triangle with its adjoint, and the inverse of a
// matrix from its Cholesky factor.
#include <memory>

#include <tessera/lapack.hpp>

#include "algorithms/inverse.hpp"
#include "algorithms/run.hpp"
#include "blas/shapes.hpp"
#include "conformable.hpp"
#include "info.hpp"
#include "lapack_on_pointers.hpp"
#include "on_host.hpp"
#include "operands.hpp"
#include "plan/plans.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"

namespace tessera {

namespace routines {

namespace {

/// What to do with a triangle: invert it, multiply it by its adjoint, or first one and then the other.
struct TriangleTask {
  const char* routine;
  bool inverts, multiplies;
};
constexpr TriangleTask trtri_task{"trtri", true, false}, lauum_task{"lauum", false, true},
    potri_task{"potri", true, true};

/// Submits the tasks on a stored matrix, which is not empty.
/// @param outcome  receives the info; null: not wanted
template <Scalar T>
void submit_inverse(const TriangleTask& task, const algorithms::Plan& plan, Uplo uplo, Diag diag, const Matrix<T>& A,
                    const detail::Outcome* outcome) {
  name_operand(A, 'A');
  const auto& session = detail::MatrixAccess::session(A);
  const tile::LowerView L(A, uplo, plan.grid);
  const auto invert = [&](auto& to) { algorithms::trtri(to, L, diag); };
  const auto multiply = [&](auto& to) { algorithms::lauum(to, L); };
  sinks::Submitter submitter(session, A, plan.gpus);
  if (plan.load_first && detail::MatrixAccess::grid(A).is_private()) {
    if (task.inverts) algorithms::load(session, type_letter<T>, invert);
    else algorithms::load(session, type_letter<T>, multiply);
  }
  auto* const value = outcome != nullptr ? owned_by_tasks<codelets::InfoValue>() : nullptr;
  if (value != nullptr && diag == Diag::NonUnit)
    algorithms::submit(submitter, [&](auto& to) { algorithms::find_zeros(to, L, value); });
  if (task.inverts) algorithms::submit(submitter, invert);
  if (value != nullptr)  // the last tile of the first column depends on all diagonal tiles
    algorithms::submit(submitter, [&](auto& to) { to.outcome(L(L.nt() - 1, 0), outcome->handle(), value); });
  if (task.multiplies) algorithms::submit(submitter, multiply);
}

// --- on matrices -----------------------------------------------------------------------------------------------------

/// A transposed view is handled as the opposite triangle of the stored matrix. The inverse of Aᵀ or Aᴴ is the
/// transposed inverse. The lower triangle L of a view is Uᵀ or Uᴴ of the stored matrix, so the product of L with its
/// adjoint is the product for U.
template <Scalar T>
void submit_on_matrix(const TriangleTask& task, int at, Uplo uplo, Diag diag, const Matrix<T>& A,
                      const detail::Outcome* outcome) {
  const MatrixArgument at_a{task.routine, at, "A"};
  require_square(at_a, A);
  require_same_tiles(at_a, "rows", row_cut(A), "its columns", column_cut(A));
  require_in_place(at_a, A, uplo);
  if (A.mt() == 0) return;
  const auto stored = A.stored();
  submit_inverse(task, plan::plan_tiles(detail::MatrixAccess::session(A).machine(), stored.nb()),
                 opposite_if(is_transposed(A), uplo), diag, stored, outcome);
}

template <Scalar T>
Info submit_with_info(const TriangleTask& task, int at, Uplo uplo, Diag diag, const Matrix<T>& A) {
  auto outcome = std::make_shared<detail::Outcome>(detail::MatrixAccess::grid(A).shared_session());
  submit_on_matrix(task, at, uplo, diag, A, outcome.get());
  if (A.mt() == 0) outcome->succeed();
  return detail::InfoAccess::info(std::move(outcome));
}

// --- on pointers -----------------------------------------------------------------------------------------------------

/// A row-major triangle is handled as the opposite triangle of a column-major matrix, as for transposed views.
template <Scalar T>
Index compute_inverse(const TriangleTask& task, Layout layout, Uplo uplo, Diag diag, Index n, T* A, Index lda) {
  if (n == 0) return 0;
  if (task.inverts && diag == Diag::NonUnit)
    if (const Index zero = first_zero(n, A, lda); zero > 0) return zero;
  const auto session = runtime::session_to_wait(task.routine);
  const auto plan = plan::plan_cholesky(machine_for(*session, {memory_of(A, n, n, lda)}), type_letter<T>, n, true);
  const Uplo stored = opposite_if(layout == Layout::RowMajor, uplo);
  const auto a = private_output(session, plan, A, n, n, lda, stored);
  submit_inverse<T>(task, plan, stored, diag, a, nullptr);
  a.wait();
  return 0;
}

template <Scalar T>
Index trtri_on_pointers(const Layout* given, Uplo uplo, Diag diag, Index n, T* A, Index lda) {
  require_legal("trtri", LAPACK_CALL(trtri, triangle), given);
  return compute_inverse(trtri_task, layout_of(given), uplo, diag, n, A, lda);
}

/// lauum and potri
template <Scalar T>
Index factor_on_pointers(const Layout* given, const TriangleTask& task, Uplo uplo, Index n, T* A, Index lda) {
  require_legal(task.routine, LAPACK_CALL(potri, factor), given);
  return compute_inverse(task, layout_of(given), uplo, Diag::NonUnit, n, A, lda);
}

}  // namespace

}  // namespace routines

template <Scalar T>
Info trtri(Uplo uplo, Diag diag, const Matrix<T>& A) {
  blas::arguments::require_legal("trtri", blas::arguments::illegal_uplo(1, uplo));
  blas::arguments::require_legal("trtri", blas::arguments::illegal_diag(2, diag));
  return routines::submit_with_info(routines::trtri_task, 3, uplo, diag, A);
}
template <Scalar T>
void lauum(Uplo uplo, const Matrix<T>& A) {
  blas::arguments::require_legal("lauum", blas::arguments::illegal_uplo(1, uplo));
  routines::submit_on_matrix(routines::lauum_task, 2, uplo, Diag::NonUnit, A, nullptr);
}
template <Scalar T>
Info potri(Uplo uplo, const Matrix<T>& A) {
  blas::arguments::require_legal("potri", blas::arguments::illegal_uplo(1, uplo));
  return routines::submit_with_info(routines::potri_task, 2, uplo, Diag::NonUnit, A);
}

DEFINE_ON_POINTERS(Index, trtri, (Scalar T), (Uplo uplo, Diag diag, Index n, T* A, Index lda), trtri_on_pointers,
                   (uplo, diag, n, A, lda))
DEFINE_ON_POINTERS(void, lauum, (Scalar T), (Uplo uplo, Index n, T* A, Index lda), factor_on_pointers,
                   (routines::lauum_task, uplo, n, A, lda))
DEFINE_ON_POINTERS(Index, potri, (Scalar T), (Uplo uplo, Index n, T* A, Index lda), factor_on_pointers,
                   (routines::potri_task, uplo, n, A, lda))

#define INSTANTIATE_INVERSES(letter, T, ...)                             \
  template Info trtri<T>(Uplo, Diag, const Matrix<T>&);                  \
  INSTANTIATE_ON_POINTERS(Index, trtri<T>, Uplo, Diag, Index, T*, Index) \
  template void lauum<T>(Uplo, const Matrix<T>&);                        \
  INSTANTIATE_ON_POINTERS(void, lauum<T>, Uplo, Index, T*, Index)        \
  template Info potri<T>(Uplo, const Matrix<T>&);                        \
  INSTANTIATE_ON_POINTERS(Index, potri<T>, Uplo, Index, T*, Index)
FOR_SDCZ(INSTANTIATE_INVERSES, )

}  // namespace tessera
