// SPDX-License-Identifier: BSD-3-Clause
// potrf, potrs and posv: the Cholesky factorization, and solves with it.
#include <memory>

#include <tessera/lapack.hpp>

#include "algorithms/cholesky.hpp"
#include "algorithms/run.hpp"
#include "blas/shapes.hpp"
#include "conformable.hpp"
#include "factor_solves.hpp"
#include "info.hpp"
#include "lapack_on_pointers.hpp"
#include "operands.hpp"
#include "plan/plans.hpp"
#include "runtime/process_session.hpp"
#include "runtime/running_calls.hpp"
#include "runtime/session.hpp"

namespace tessera {

namespace routines {

namespace {

/// Submits the factorization of a stored matrix.
template <Scalar T>
Info factorize(const algorithms::Plan& plan, Uplo uplo, const Matrix<T>& A) {
  auto& grid = detail::MatrixAccess::grid(A);
  auto outcome = std::make_shared<detail::Outcome>(grid.shared_session(), grid.share().processes);
  if (A.mt() == 0) {
    outcome->succeed();
  } else {
    name_operand(A, 'A');
    const auto& session = detail::MatrixAccess::session(A);
    const tile::LowerView lower(A, uplo, plan.grid, plan.rows_for_cores.count);
    sinks::Submitter submitter(session, A, plan.gpus);
    auto* const value = owned_by_tasks<codelets::InfoValue>();
    const auto algorithm = [&](auto& to) { algorithms::potrf(to, lower, value); };
    if (plan.load_first && grid.is_private()) algorithms::load(session, type_letter<T>, algorithm);
    algorithms::submit(submitter, algorithm);
    if (!algorithms::submit_outcome(submitter, lower, lower.nt(), outcome->handle(), value))
      outcome->succeed_without(value);
  }
  return detail::InfoAccess::info(std::move(outcome));
}

// --- on matrices -----------------------------------------------------------------------------------------------------

/// @throws ArgumentError, ShapeError if A cannot be factorized, or cannot be a factor
template <Scalar T>
void require_factor(const char* routine, Uplo uplo, const Matrix<T>& A) {
  blas::arguments::require_legal(routine, blas::arguments::illegal_uplo(1, uplo));
  const MatrixArgument at_a{routine, 2, "A"};
  require_square(at_a, A);
  require_same_tiles(at_a, "rows", row_cut(A), "its columns", column_cut(A));
}

template <Scalar T>
void require_right_sides(const char* routine, Uplo uplo, const Matrix<T>& A, const Matrix<T>& B) {
  const MatrixArgument at_a{routine, 2, "A"}, at_b{routine, 3, "B"};
  require_equal(at_b, "rows", B.m(), "A", A.m());
  require_writable(at_b, B);
  if (B.m() == 0 || B.n() == 0) return;
  require_values(at_a, A, uplo);
  require_values(at_b, B);
  require_same_tiles(at_b, "rows", row_cut(B), "A", row_cut(A));
  require_disjoint(at_b, B, "A", A);
  // One of the two solves uses Aᴴ.
  if (is_complex<T> && A.op() == Op::Trans) refuse_conjugate(at_a);
  if (is_complex<T> && B.op() == Op::Trans) refuse_conjugate(at_b);
}

template <Scalar T>
Info submit_potrf(Uplo uplo, const Matrix<T>& A) {
  const auto stored = A.stored();  // factor of Aᵀ or Aᴴ: the transposed factor, in the other triangle
  return factorize(plan::plan_tiles(detail::MatrixAccess::session(A).machine(), stored.nb()),
                   opposite_if(is_transposed(A), uplo), stored);
}

// --- on pointers -----------------------------------------------------------------------------------------------------

template <Scalar T>
Uplo stored_uplo(const FactoredProblem<T>& p, Uplo uplo) {
  return opposite_if(p.by_rows(), uplo);
}

/// Factorizes A, and solves if there are right-hand sides and A has a factor.
template <Scalar T>
Index compute_cholesky(const char* routine, Uplo uplo, const FactoredProblem<T>& p) {
  if (p.n == 0) return 0;
  const auto session = runtime::session_to_wait(routine);
  const bool solves = p.nrhs > 0;
  const auto plan = plan::plan_cholesky(machine_for(*session, p.operands()), type_letter<T>, p.n, solves,
                                        plan::are_far_apart(type_letter<T>, p.n, p.lda));
  const Uplo stored = stored_uplo(p, uplo);
  const auto a = private_output(session, plan, p.A, p.n, p.n, p.lda, stored);
  if (!solves) {
    const auto info = factorize(plan, stored, a);
    a.wait();
    return info.wait();
  }
  const auto right_sides = plan_right_sides(session->machine(), plan, p.side(), p.nrhs);
  const auto b = private_output(session, right_sides, p.B, p.rows_of_b(), p.columns_of_b(), p.ldb);
  name_operand(b, 'B');
  const auto info = factorize(plan, stored, a);
  a.start_write_back();
  // If A has no factor, B must not change. The tiles of the factor stay on the devices for the solves.
  if (info.wait() == 0) {
    submit_solves(*session, right_sides, p, solves_with_cholesky(uplo), a, b);
    b.wait();
  }
  a.wait();
  return info.wait();
}

template <Scalar T>
Index potrf_on_pointers(const Layout* given, Uplo uplo, Index n, T* A, Index lda) {
  require_legal("potrf", LAPACK_CALL(potrf, factor), given);
  return compute_cholesky<T>("potrf", uplo, {layout_of(given), n, n, A, lda});
}

template <Scalar T>
void potrs_on_pointers(const Layout* given, Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb) {
  const FactoredProblem<T> p{layout_of(given), n, n, const_cast<T*>(A), lda, nrhs, B, ldb};  // A is only read
  require_legal("potrs", LAPACK_CALL(potrs, definite_system), given);
  if (n > 0 && nrhs > 0)
    solve_with_factors(runtime::session_to_wait("potrs"), p, solves_with_cholesky(uplo), stored_uplo(p, uplo));
}

template <Scalar T>
Index posv_on_pointers(const Layout* given, Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb) {
  const FactoredProblem<T> p{layout_of(given), n, n, A, lda, nrhs, B, ldb};
  require_legal("posv", LAPACK_CALL(posv, definite_system), given);
  return compute_cholesky("posv", uplo, p);
}

}  // namespace

}  // namespace routines

template <Scalar T>
Info potrf(Uplo uplo, const Matrix<T>& A) {
  routines::require_factor("potrf", uplo, A);
  routines::require_in_place({"potrf", 2, "A"}, A, uplo);
  return routines::submit_potrf(uplo, A);
}
template <Scalar T>
void potrs(Uplo uplo, const Matrix<T>& A, const Matrix<T>& B) {
  routines::require_factor("potrs", uplo, A);
  routines::require_right_sides("potrs", uplo, A, B);
  const runtime::WholeCall whole(detail::MatrixAccess::session(A));
  routines::submit_solves(routines::solves_with_cholesky(uplo), A, B);
}
template <Scalar T>
Info posv(Uplo uplo, const Matrix<T>& A, const Matrix<T>& B) {
  routines::require_factor("posv", uplo, A);
  routines::require_in_place({"posv", 2, "A"}, A, uplo);
  routines::require_right_sides("posv", uplo, A, B);
  const runtime::WholeCall whole(detail::MatrixAccess::session(A));
  auto info = routines::submit_potrf(uplo, A);
  routines::submit_solves(routines::solves_with_cholesky(uplo), A, B);
  return info;
}

DEFINE_ON_POINTERS(Index, potrf, (Scalar T), (Uplo uplo, Index n, T* A, Index lda), potrf_on_pointers,
                   (uplo, n, A, lda))
DEFINE_ON_POINTERS(void, potrs, (Scalar T), (Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb),
                   potrs_on_pointers, (uplo, n, nrhs, A, lda, B, ldb))
DEFINE_ON_POINTERS(Index, posv, (Scalar T), (Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb),
                   posv_on_pointers, (uplo, n, nrhs, A, lda, B, ldb))

#define INSTANTIATE_SOLVERS(letter, T, ...)                                               \
  template Info potrf<T>(Uplo, const Matrix<T>&);                                         \
  INSTANTIATE_ON_POINTERS(Index, potrf<T>, Uplo, Index, T*, Index)                        \
  template void potrs<T>(Uplo, const Matrix<T>&, const Matrix<T>&);                       \
  INSTANTIATE_ON_POINTERS(void, potrs<T>, Uplo, Index, Index, const T*, Index, T*, Index) \
  template Info posv<T>(Uplo, const Matrix<T>&, const Matrix<T>&);                        \
  INSTANTIATE_ON_POINTERS(Index, posv<T>, Uplo, Index, Index, T*, Index, T*, Index)
FOR_SDCZ(INSTANTIATE_SOLVERS, )

}  // namespace tessera
