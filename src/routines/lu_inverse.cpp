// SPDX-License-Identifier: BSD-3-Clause
// getri: the inverse of a matrix from its LU factorization.
#include <cstdint>
#include <memory>

#include <tessera/lapack.hpp>

#include "algorithms/lu_inverse.hpp"
#include "algorithms/pivot_tiles.hpp"
#include "blas/shapes.hpp"
#include "conformable.hpp"
#include "info.hpp"
#include "lapack_on_pointers.hpp"
#include "lu_panels.hpp"
#include "operands.hpp"
#include "plan/plans.hpp"
#include "runtime/process_session.hpp"
#include "sinks/loader.hpp"
#include "sinks/submit.hpp"

namespace tessera {

namespace routines {

namespace {

/// Submits the tasks on a matrix, which is not empty.
/// @param outcome  receives the info; null: not wanted
template <Scalar T>
void submit_lu_inverse(const algorithms::Plan& plan, const Matrix<T>& A, const detail::PivotTiles& pivots,
                       const detail::Outcome* outcome) {
  name_operand(A, 'A');
  const auto& session = detail::MatrixAccess::session(A);
  sinks::Submitter submitter(session, A);
  algorithms::LuInverse<sinks::Submitter> inverse(session, submitter, plan.grid.size(), A);
  if (plan.load_first && detail::MatrixAccess::grid(A).is_private()) {
    sinks::Loader loader(session);
    algorithms::LuInverse<sinks::Loader>(session, loader, plan.grid.size(), A).invert();
  }
  auto* const value = outcome != nullptr ? owned_by_tasks<codelets::InfoValue>() : nullptr;
  if (value != nullptr) inverse.find_zeros(value);
  inverse.invert();
  inverse.solve();
  if (value != nullptr) inverse.outcome(outcome->handle(), value);
  inverse.exchange(pivots);
}

template <Scalar T, typename Int>
Index getri_on_pointers(const Layout* given, Index n, T* A, Index lda, const Int* ipiv) {
  const auto stored = require_legal("getri", LAPACK_CALL(getri, inverse), given);
  require_rows("getri", stored[0].ld_position + 1, ipiv, n);
  if (n == 0) return 0;
  if (const Index zero = first_zero(n, A, lda); zero > 0) return zero;
  const auto session = runtime::session_to_wait("getri");
  ColumnMajorCopy<T> columns(layout_of(given), A, n, n, lda);
  auto plan =
      plan::plan_getrf(machine_for(*session, {memory_of(columns.data(), n, n, columns.ld())}), type_letter<T>, n, n);
  plan.tile.m = n;
  {
    const auto a = private_output(session, plan, columns.data(), n, n, columns.ld());
    detail::PivotTiles pivots(session, n, n, plan.tile.n);
    pivots.set({ipiv, ipiv + n});
    submit_lu_inverse<T>(plan, a, pivots, nullptr);
    a.wait();
  }
  columns.copy_back();
  return 0;
}

}  // namespace

}  // namespace routines

template <Scalar T>
Info getri(const Matrix<T>& A, const Pivots& pivots) {
  const routines::MatrixArgument at_a{"getri", 1, "A"};
  routines::require_full_panels(at_a, A);
  routines::require_square(at_a, A);
  routines::require_in_place(at_a, A);
  const auto& tiles = detail::PivotsAccess::tiles(pivots);
  routines::require_pivots_of("getri", 2, tiles, A);
  auto outcome = std::make_shared<detail::Outcome>(detail::MatrixAccess::grid(A).shared_session());
  if (A.m() == 0) outcome->succeed();
  else routines::submit_lu_inverse(routines::panels_of(A), A, tiles, outcome.get());
  return detail::InfoAccess::info(std::move(outcome));
}

DEFINE_ON_POINTERS(Index, getri, (Scalar T, typename Int), (Index n, T* A, Index lda, const Int* ipiv),
                   getri_on_pointers, (n, A, lda, ipiv))

#define INSTANTIATE_LU_INVERSE(letter, T, ...) template Info getri<T>(const Matrix<T>&, const Pivots&);
#define INSTANTIATE_LU_INVERSE_ON_POINTERS(letter, T, Int) \
  INSTANTIATE_ON_POINTERS(Index, LISTED(getri<T, Int>), Index, T*, Index, const Int*)
FOR_SDCZ(INSTANTIATE_LU_INVERSE, )
FOR_SDCZ(INSTANTIATE_LU_INVERSE_ON_POINTERS, std::int32_t)
FOR_SDCZ(INSTANTIATE_LU_INVERSE_ON_POINTERS, std::int64_t)

}  // namespace tessera
