// SPDX-License-Identifier: BSD-3-Clause
// getrf, getrs and gesv: LU factorization with partial pivoting, and solves with it.
#include <algorithm>
#include <string>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "algorithms/lu.hpp"
#include "algorithms/pivot_tiles.hpp"
#include "algorithms/plan.hpp"
#include "blas/shapes.hpp"
#include "conformable.hpp"
#include "factor_solves.hpp"
#include "held_back.hpp"
#include "info.hpp"
#include "lapack_on_pointers.hpp"
#include "lu_panels.hpp"
#include "on_host.hpp"
#include "operands.hpp"
#include "plan/plans.hpp"
#include "runtime/process_session.hpp"
#include "runtime/running_calls.hpp"
#include "runtime/session.hpp"
#include "sinks/loader.hpp"
#include "sinks/step_inputs.hpp"
#include "sinks/submit.hpp"

namespace tessera {

namespace routines {

namespace {

/// A factorization whose tasks have been submitted.
struct Submitted {
  std::shared_ptr<detail::PivotTiles> pivots;
  std::shared_ptr<detail::Outcome> outcome;
};

using Ops = algorithms::PanelOps<sinks::Submitter>;

/// What a factorization knows of the times of panels: the same in all processes that share the matrix.
algorithms::PanelTimes<Ops> panel_times(const Ops& to, const tile::Share& share) {
  if (!share.is_distributed()) return algorithms::PanelTimes(to);
  const auto model = share.processes->model();
  return {to, to.are_owned() && model.factorizes_beside_products, model.gpu_memory};
}

template <Scalar T>
Submitted factorize(const algorithms::Plan& plan, const Matrix<T>& A) {
  const auto& grid = detail::MatrixAccess::grid(A);
  const auto& session = grid.shared_session();
  const auto& share = grid.share();
  Submitted result{std::make_shared<detail::PivotTiles>(session, A.m(), A.n(), A.nb()),
                   std::make_shared<detail::Outcome>(session, share.processes)};
  if (A.m() == 0 || A.n() == 0) {
    result.outcome->succeed();
    return result;
  }
  name_operand(A, 'A');
  sinks::Submitter submitter(*session, A, plan.gpus);
  if (share.is_distributed()) {
    submitter.limit_copies(static_cast<std::size_t>(Ops::most_copies * A.m() * A.nb()) * sizeof(T));
    result.pivots->assign(submitter.exchange(), A);
  }
  auto* const value = owned_by_tasks<codelets::InfoValue>();
  Ops to(session->machine(), submitter, plan.grid.size(), A, *result.pivots);
  if (plan.load_first && grid.is_private()) {
    sinks::Loader loader(*session);
    to.request(loader);
  }
  if (plan.load_first || !session->machine().has_owners()) algorithms::getrf(to, panel_times(to, share), value);
  else algorithms::getrf_out_of_core(to, plan.together, value);
  if (!to.outcome(result.outcome->handle(), value)) result.outcome->succeed_without(value);
  if (share.is_distributed()) result.pivots->give_to_all(submitter.exchange(), share.p * share.q, submitter.priority());
  return result;
}

// --- on matrices -----------------------------------------------------------------------------------------------------

template <Scalar T>
void require_right_sides(const char* routine, int at_a, const Matrix<T>& A, int at_b, const Matrix<T>& B) {
  const MatrixArgument a{routine, at_a, "A"}, b{routine, at_b, "B"};
  require_panels(a, A);
  require_stored(b, B);
  require_whole_columns(b, B);
  require_square(a, A);
  require_equal(b, "rows", B.m(), "A", A.m());
  if (B.mt() != A.mt() || (A.mt() > 1 && B.mb() != A.mb()))
    throw ShapeError(routine, at_b, "B",
                     "has tiles of " + std::to_string(B.mb()) +
                         " rows, must have tiles of as many rows as A: " + std::to_string(A.mb()));
  require_values(a, A);
  require_in_place(b, B);
  require_disjoint(b, B, "A", A);
}

template <Scalar T>
void submit_solve(Op op, const Matrix<T>& A, const detail::PivotTiles& pivots, const Matrix<T>& B) {
  if (B.m() == 0 || B.n() == 0) return;
  name_operand(A, 'A'), name_operand(B, 'B');
  const auto& session = detail::MatrixAccess::session(B);
  sinks::Submitter submitter(session, B);
  algorithms::PanelOps<sinks::Submitter> to(session.machine(), submitter, panels_of(A).grid.size(), A, pivots);
  const auto& share = detail::MatrixAccess::grid(B).share();
  const double bytes = sizeof(T) * static_cast<double>(A.m()) * static_cast<double>(A.n());
  // Every process needs all of A. With more processes, the copies would soon take much more memory than the matrices.
  const double copies = bytes * (1 - 1. / share.q);
  if (!share.is_distributed() || !holds_back(share, copies, A, B, own_bytes(share, A, B)))
    return algorithms::getrs(to, op, B);
  sinks::StepInputs inputs(submitter, 2 * to.pivoted(), share.q, share_that_fits(share, copies, A, B));
  algorithms::getrs_held_back(to, inputs, op, B);
}

Pivoted pivoted(Submitted submitted) {
  return {detail::PivotsAccess::pivots(std::move(submitted.pivots)),
          detail::InfoAccess::info(std::move(submitted.outcome))};
}

// --- on pointers -----------------------------------------------------------------------------------------------------

template <Scalar T>
Matrix<T> right_sides(const std::shared_ptr<detail::Session>& session, const algorithms::Plan& of_a, T* B, Index n,
                      Index nrhs, Index ldb) {
  algorithms::Plan plan;
  constexpr Index widest = 512;
  plan.tile = {of_a.tile.m, width_of_right_sides(session->machine(), nrhs, widest), 1};
  return private_output(session, plan, B, n, nrhs, ldb);
}

/// Up to this number of right-hand sides, the calling thread exchanges the rows of B, and the solves are sweeps over
/// square tiles, which all workers share. With panels, one worker would run the whole step on a column of tiles of B.
constexpr Index few_right_sides = 64;

/// Factorizes A, and solves if there are right-hand sides and the factor has no zero on its diagonal.
template <Scalar T>
Index compute(const char* routine, Index m, Index n, T* A, Index lda, std::vector<Index>& pivots, Index nrhs, T* B,
              Index ldb) {
  if (m == 0 || n == 0) return 0;
  const auto session = runtime::session_to_wait(routine);
  const auto plan = plan::plan_getrf(machine_for(*session, {memory_of(A, m, n, lda), memory_of(B, n, nrhs, ldb)}),
                                     type_letter<T>, m, n);
  const auto a = private_output(session, plan, A, m, n, lda);
  const auto submitted = factorize(plan, a);
  if (nrhs > 0) {
    const auto b = right_sides(session, plan, B, n, nrhs, ldb);
    a.start_write_back();
    if (submitted.outcome->wait() == 0) {  // otherwise B must not change
      submit_solve(Op::NoTrans, a, *submitted.pivots, b);
      b.wait();
    }
  }
  a.wait();
  pivots = submitted.pivots->wait();
  return submitted.outcome->wait();
}

template <Scalar T, typename Int>
Index getrf_on_pointers(const Layout* given, Index m, Index n, T* A, Index lda, Int* ipiv) {
  require_legal("getrf", LAPACK_CALL(getrf, rectangle), given);
  ColumnMajorCopy<T> columns(layout_of(given), A, m, n, lda);
  std::vector<Index> pivots;
  const Index info = compute<T>("getrf", m, n, columns.data(), columns.ld(), pivots, 0, nullptr, 1);
  columns.copy_back();
  std::ranges::transform(pivots, ipiv, [](Index pivot) { return static_cast<Int>(pivot); });
  return info;
}

template <Scalar T, typename Int>
void getrs_on_pointers(const Layout* given, Op op, Index n, Index nrhs, const T* A, Index lda, const Int* ipiv, T* B,
                       Index ldb) {
  const auto [a, b] = require_legal("getrs", LAPACK_CALL(getrs, factored_system), given);
  if (n == 0 || nrhs == 0) return;
  require_rows("getrs", a.ld_position + 1, ipiv, n);
  const auto layout = layout_of(given);
  const auto session = runtime::session_to_wait("getrs");
  if (nrhs <= few_right_sides) {
    OnHost<T> right(B, b.m, b.n, ldb, HostUse::Both);
    auto* const read_only = const_cast<T*>(A);
    const FactoredProblem<T> p{layout, n, n, read_only, lda, nrhs, right.data(), right.ld()};
    const auto plan = plan_solves_of(*session, p);  // before B changes, in case there is none
    if (op == Op::NoTrans) exchange_rows(layout, nrhs, p.B, p.ldb, RowPairs<Int>{1, n, ipiv, 1});
    solve_with_factors(session, plan, p, solves_with_lu(op), {});
    if (op != Op::NoTrans) exchange_rows(layout, nrhs, p.B, p.ldb, RowPairs<Int>{1, n, ipiv, -1});
    right.finish();
    return;
  }
  ColumnMajorCopy<T> factors(layout, const_cast<T*>(A), n, n, lda), columns(layout, B, n, nrhs, ldb);  // A is only read
  const auto plan = plan::plan_getrf(machine_for(*session, {memory_of(factors.data(), n, n, factors.ld()),
                                                            memory_of(columns.data(), n, nrhs, columns.ld())}),
                                     type_letter<T>, n, n);
  {
    const auto x = right_sides(session, plan, columns.data(), n, nrhs, columns.ld());
    const auto factor = detail::MatrixAccess::matrix(session, static_cast<const T*>(factors.data()), n, n, factors.ld(),
                                                     {plan.tile.m, plan.tile.n});
    detail::PivotTiles pivots(session, n, n, plan.tile.n);
    pivots.set({ipiv, ipiv + n});
    submit_solve(op, factor, pivots, x);
    x.wait();
  }
  columns.copy_back();
}

template <Scalar T, typename Int>
Index gesv_on_pointers(const Layout* given, Index n, Index nrhs, T* A, Index lda, Int* ipiv, T* B, Index ldb) {
  require_legal("gesv", LAPACK_CALL(gesv, system), given);
  const auto layout = layout_of(given);
  ColumnMajorCopy<T> columns(layout, A, n, n, lda), right(layout, B, n, nrhs, ldb);
  std::vector<Index> pivots;
  const Index info = compute<T>("gesv", n, n, columns.data(), columns.ld(), pivots, nrhs, right.data(), right.ld());
  columns.copy_back();
  if (info == 0) right.copy_back();
  std::ranges::transform(pivots, ipiv, [](Index pivot) { return static_cast<Int>(pivot); });
  return info;
}

}  // namespace

}  // namespace routines

template <Scalar T>
Pivoted getrf(const Matrix<T>& A) {
  const routines::MatrixArgument at_a{"getrf", 1, "A"};
  routines::require_panels(at_a, A);
  routines::require_in_place(at_a, A);
  return routines::pivoted(routines::factorize(routines::panels_of(A), A));
}

template <Scalar T>
void getrs(Op op, const Matrix<T>& A, const Pivots& pivots, const Matrix<T>& B) {
  blas::arguments::require_legal("getrs", blas::arguments::illegal_op(1, "op", op));
  routines::require_right_sides("getrs", 2, A, 4, B);
  const auto& tiles = detail::PivotsAccess::tiles(pivots);
  routines::require_pivots_of("getrs", 3, tiles, A);
  routines::submit_solve(op, A, tiles, B);
}

template <Scalar T>
Pivoted gesv(const Matrix<T>& A, const Matrix<T>& B) {
  routines::require_writable({"gesv", 1, "A"}, A);
  routines::require_right_sides("gesv", 1, A, 2, B);
  const runtime::WholeCall whole(detail::MatrixAccess::session(A));
  auto submitted = routines::factorize(routines::panels_of(A), A);
  routines::submit_solve(Op::NoTrans, A, *submitted.pivots, B);
  return routines::pivoted(std::move(submitted));
}

DEFINE_ON_POINTERS(Index, getrf, (Scalar T, typename Int), (Index m, Index n, T* A, Index lda, Int* ipiv),
                   getrf_on_pointers, (m, n, A, lda, ipiv))
DEFINE_ON_POINTERS(void, getrs, (Scalar T, typename Int),
                   (Op op, Index n, Index nrhs, const T* A, Index lda, const Int* ipiv, T* B, Index ldb),
                   getrs_on_pointers, (op, n, nrhs, A, lda, ipiv, B, ldb))
DEFINE_ON_POINTERS(Index, gesv, (Scalar T, typename Int),
                   (Index n, Index nrhs, T* A, Index lda, Int* ipiv, T* B, Index ldb), gesv_on_pointers,
                   (n, nrhs, A, lda, ipiv, B, ldb))

#define INSTANTIATE_ON_MATRICES(letter, T, ...)                                  \
  template Pivoted getrf<T>(const Matrix<T>&);                                   \
  template void getrs<T>(Op, const Matrix<T>&, const Pivots&, const Matrix<T>&); \
  template Pivoted gesv<T>(const Matrix<T>&, const Matrix<T>&);
#define INSTANTIATE_WITH_PIVOTS(letter, T, Int)                                                                  \
  INSTANTIATE_ON_POINTERS(Index, LISTED(getrf<T, Int>), Index, Index, T*, Index, Int*)                           \
  INSTANTIATE_ON_POINTERS(void, LISTED(getrs<T, Int>), Op, Index, Index, const T*, Index, const Int*, T*, Index) \
  INSTANTIATE_ON_POINTERS(Index, LISTED(gesv<T, Int>), Index, Index, T*, Index, Int*, T*, Index)
FOR_SDCZ(INSTANTIATE_ON_MATRICES, )
FOR_SDCZ(INSTANTIATE_WITH_PIVOTS, std::int32_t)
FOR_SDCZ(INSTANTIATE_WITH_PIVOTS, std::int64_t)

}  // namespace tessera
