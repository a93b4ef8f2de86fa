// SPDX-License-Identifier: BSD-3-Clause
// getrf_nopiv, getrs_nopiv and gesv_nopiv: LU factorization without pivoting, and solves with it.
#include <algorithm>
#include <memory>
#include <string>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "algorithms/lu_nopiv.hpp"
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
#include "solvable.hpp"

namespace tessera {

namespace routines {

namespace {

/// A factorization without pivoting whose tasks have been submitted.
struct Unpivoted {
  std::shared_ptr<detail::Outcome> info, growth;  ///< growth: null if not wanted, or if there is nothing to measure
};

/// @param unit  the factor that has a unit diagonal, for A as stored
template <Scalar T>
Unpivoted factorize_unpivoted(const algorithms::Plan& plan, Uplo unit, const Matrix<T>& A, bool with_growth) {
  const auto& grid = detail::MatrixAccess::grid(A);
  const auto& session = grid.shared_session();
  Unpivoted result{std::make_shared<detail::Outcome>(session, grid.share().processes), nullptr};
  if (A.mt() == 0 || A.nt() == 0) {
    result.info->succeed();
    return result;
  }
  name_operand(A, 'A');
  if (with_growth) {
    result.growth = std::make_shared<detail::Outcome>(session);
    result.growth->succeed();  // so that it has a value: tasks that measure read it
  }
  const tile::FullView tiles(A, plan.grid, plan.rows_for_cores.count);
  sinks::Submitter submitter(*session, A, plan.gpus);
  auto* const info = owned_by_tasks<codelets::InfoValue>();
  algorithms::MeasuredGrowth measured;
  if (with_growth) measured = {owned_by_tasks<codelets::GrowthValue>(), result.growth->handle()};
  const auto load = [&](auto& to) { algorithms::getrf_nopiv(to, tiles, unit, info, {}); };
  const auto submit = [&](auto& to) { algorithms::getrf_nopiv(to, tiles, unit, info, measured); };
  if (plan.load_first && grid.is_private()) algorithms::load(*session, type_letter<T>, load);
  algorithms::submit(submitter, submit);
  const auto submit_outcome = [&](starpu_data_handle_t handle, codelets::OutcomeValue* value) {
    return algorithms::submit_outcome(submitter, tiles, std::min(A.mt(), A.nt()), handle, value);
  };
  if (measured.value != nullptr) submit_outcome(measured.handle, measured.value);
  if (!submit_outcome(result.info->handle(), info)) result.info->succeed_without(info);
  return result;
}

// --- on matrices -----------------------------------------------------------------------------------------------------

/// @throws ShapeError if a tile on the diagonal of A, except for the last, is not square
template <Scalar T>
void require_square_tiles(const MatrixArgument& which, const Matrix<T>& A) {
  const bool high = A.mt() > 1, wide = A.nt() > 1;
  const bool fits = high && wide ? A.mb() == A.nb() : high ? A.mb() >= A.n() : !wide || A.nb() >= A.m();
  if (!fits)
    throw ShapeError(
        which.routine, which.position, which.name,
        "is cut into tiles of " + std::to_string(A.mb()) + "x" + std::to_string(A.nb()) + ", which must be square");
}

/// The factors of Aᵀ or Aᴴ are the transposed factors. The unit diagonal then belongs to the other factor.
template <Scalar T>
Info submit_getrf_nopiv(const Matrix<T>& A, Growth* growth) {
  const auto stored = A.stored();
  auto result = factorize_unpivoted(plan::plan_tiles(detail::MatrixAccess::session(A).machine(), stored.nb()),
                                    opposite_if(is_transposed(A), Uplo::Lower), stored, growth != nullptr);
  if (growth != nullptr) *growth = detail::InfoAccess::growth(std::move(result.growth));
  return detail::InfoAccess::info(std::move(result.info));
}

// --- on pointers -----------------------------------------------------------------------------------------------------

constexpr const void* ipiv = nullptr;  ///< for LAPACK_CALL

/// @param pivoted  the call of the routine with pivots
void require_legal_unpivoted(const char* routine, blas::LapackCall pivoted, const Layout* given,
                             const double* growth = nullptr) {
  pivoted.pivoted = false;
  const auto [A, B] = require_legal(routine, pivoted, given);
  const int last = std::max(A.ld_position, B.ld_position);
  blas::arguments::require_legal(routine, blas::arguments::illegal_for_host(last + 1, "growth", growth));
}

/// Factorizes A, and solves if there are right-hand sides and no pivot is zero.
template <Scalar T>
Index compute_unpivoted(const char* routine, const FactoredProblem<T>& p, double* growth) {
  if (growth != nullptr) *growth = 1;
  if (p.m == 0 || p.n == 0) return 0;
  const auto session = runtime::session_to_wait(routine);
  const auto plan =
      plan::plan_lu_nopiv(machine_for(*session, p.operands()), type_letter<T>, p.stored_rows(), p.stored_columns(),
                          p.nrhs > 0, plan::are_far_apart(type_letter<T>, p.stored_rows(), p.lda));
  const auto a = private_output(session, plan, p.A, p.stored_rows(), p.stored_columns(), p.lda);
  auto submitted = factorize_unpivoted(plan, opposite_if(p.by_rows(), Uplo::Lower), a, growth != nullptr);
  if (p.nrhs > 0) {
    const auto solves = plan_right_sides(session->machine(), plan, p.side(), p.nrhs);
    const auto b = private_output(session, solves, p.B, p.rows_of_b(), p.columns_of_b(), p.ldb);
    name_operand(b, 'B');
    a.start_write_back();
    if (submitted.info->wait() == 0) {  // otherwise B must not change
      submit_solves(*session, solves, p, solves_with_lu(Op::NoTrans), a, b);
      b.wait();
    }
  }
  a.wait();
  if (growth != nullptr) *growth = detail::InfoAccess::growth(std::move(submitted.growth)).wait();
  return submitted.info->wait();
}

template <Scalar T>
Index getrf_nopiv_on_pointers(const Layout* given, Index m, Index n, T* A, Index lda, double* growth) {
  require_legal_unpivoted("getrf_nopiv", LAPACK_CALL(getrf, rectangle), given, growth);
  return compute_unpivoted<T>("getrf_nopiv", {layout_of(given), m, n, A, lda}, growth);
}

template <Scalar T>
void getrs_nopiv_on_pointers(const Layout* given, Op op, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb) {
  require_legal_unpivoted("getrs_nopiv", LAPACK_CALL(getrs, factored_system), given);
  if (n == 0 || nrhs == 0) return;
  const FactoredProblem<T> p{layout_of(given), n, n, const_cast<T*>(A), lda, nrhs, B, ldb};  // A is only read
  solve_with_factors(runtime::session_to_wait("getrs_nopiv"), p, solves_with_lu(op));
}

template <Scalar T>
Index gesv_nopiv_on_pointers(const Layout* given, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb,
                             double* growth) {
  require_legal_unpivoted("gesv_nopiv", LAPACK_CALL(gesv, system), given, growth);
  return compute_unpivoted<T>("gesv_nopiv", {layout_of(given), n, n, A, lda, nrhs, B, ldb}, growth);
}

}  // namespace

}  // namespace routines

template <Scalar T>
Info getrf_nopiv(const Matrix<T>& A, Growth* growth) {
  const routines::MatrixArgument at_a{"getrf_nopiv", 1, "A"};
  routines::require_square_tiles(at_a, A);
  routines::require_in_place(at_a, A);
  return routines::submit_getrf_nopiv(A, growth);
}
template <Scalar T>
void getrs_nopiv(Op op, const Matrix<T>& A, const Matrix<T>& B) {
  blas::arguments::require_legal("getrs_nopiv", blas::arguments::illegal_op(1, "op", op));
  routines::require_solvable("getrs_nopiv", 2, op, A, 3, B);
  const runtime::WholeCall whole(detail::MatrixAccess::session(A));
  routines::submit_solves(routines::solves_with_lu(op), A, B);
}
template <Scalar T>
Info gesv_nopiv(const Matrix<T>& A, const Matrix<T>& B, Growth* growth) {
  routines::require_in_place({"gesv_nopiv", 1, "A"}, A);
  routines::require_solvable("gesv_nopiv", 1, Op::NoTrans, A, 2, B);
  const runtime::WholeCall whole(detail::MatrixAccess::session(A));
  auto info = routines::submit_getrf_nopiv(A, growth);
  routines::submit_solves(routines::solves_with_lu(Op::NoTrans), A, B);
  return info;
}

DEFINE_ON_POINTERS(Index, getrf_nopiv, (Scalar T), (Index m, Index n, T* A, Index lda, double* growth),
                   getrf_nopiv_on_pointers, (m, n, A, lda, growth))
DEFINE_ON_POINTERS(void, getrs_nopiv, (Scalar T), (Op op, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb),
                   getrs_nopiv_on_pointers, (op, n, nrhs, A, lda, B, ldb))
DEFINE_ON_POINTERS(Index, gesv_nopiv, (Scalar T),
                   (Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, double* growth), gesv_nopiv_on_pointers,
                   (n, nrhs, A, lda, B, ldb, growth))

#define INSTANTIATE_UNPIVOTED(letter, T, ...)                                                 \
  template Info getrf_nopiv<T>(const Matrix<T>&, Growth*);                                    \
  INSTANTIATE_ON_POINTERS(Index, getrf_nopiv<T>, Index, Index, T*, Index, double*)            \
  template void getrs_nopiv<T>(Op, const Matrix<T>&, const Matrix<T>&);                       \
  INSTANTIATE_ON_POINTERS(void, getrs_nopiv<T>, Op, Index, Index, const T*, Index, T*, Index) \
  template Info gesv_nopiv<T>(const Matrix<T>&, const Matrix<T>&, Growth*);                   \
  INSTANTIATE_ON_POINTERS(Index, gesv_nopiv<T>, Index, Index, T*, Index, T*, Index, double*)
FOR_SDCZ(INSTANTIATE_UNPIVOTED, )

}  // namespace tessera
