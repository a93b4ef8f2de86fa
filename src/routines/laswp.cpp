// SPDX-License-Identifier: BSD-3-Clause
// laswp: row exchanges as a building block; and the handles of pivots.
#include <algorithm>
#include <cstdint>
#include <string>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "algorithms/pivot_tiles.hpp"
#include "algorithms/row_exchanges.hpp"
#include "blas/shapes.hpp"
#include "conformable.hpp"
#include "lapack_on_pointers.hpp"
#include "lu_panels.hpp"
#include "on_host.hpp"
#include "operands.hpp"
#include "runtime/session.hpp"
#include "sinks/submit.hpp"

namespace tessera {

namespace routines {

namespace {

/// The last row that is exchanged, counted from 1; 0 if there is none.
/// @throws ArgumentError if a pivot is not a valid row, or the host cannot read the pivots
template <typename Int>
Index last_row(const RowPairs<Int>& pairs, int at_pivots) {
  if (pairs.empty()) return 0;
  require_elements("laswp", at_pivots, "ipiv", pairs.ipiv);
  Index last = pairs.k2;
  for (Index i = pairs.k1; i <= pairs.k2; i++) {
    const Index other = pairs.of(i);
    if (other < 1)
      throw ArgumentError("laswp", at_pivots, "ipiv",
                          "has " + std::to_string(other) + " for row " + std::to_string(i) + ", must be at least 1");
    last = std::max(last, other);
  }
  return last;
}

template <Scalar T, typename Int>
void laswp_on_pointers(const Layout* given, Index n, T* A, Index lda, const RowPairs<Int>& pairs) {
  const int before = require_legal("laswp", given), at_a = before + 2, at_k1 = at_a + 2, at_pivots = at_k1 + 2;
  blas::arguments::require_legal("laswp", blas::arguments::illegal_size(before + 1, "n", n));
  // laswp has no argument for the number of rows of A. It follows from the arguments after A.
  if (pairs.k1 < 1)
    blas::arguments::require_legal("laswp", {at_k1, "k1", blas::arguments::Problem::TooSmall, pairs.k1, 1});
  const Index last = last_row(pairs, at_pivots);
  blas::arguments::StoredMatrix a{"A", "lda", at_a, at_a + 1, last, n, lda, A, true, sizeof(T)};
  if (layout_of(given) == Layout::RowMajor) std::swap(a.m, a.n);
  blas::arguments::require_legal("laswp", illegal_leading_dimension(a));
  require_memory("laswp", a);
  OnHost<T> rows(A, a.m, a.n, lda, HostUse::Both);
  exchange_rows(layout_of(given), n, rows.data(), rows.ld(), pairs);
  rows.finish();
}

}  // namespace

}  // namespace routines

Index Pivots::panels() const noexcept { return tiles_->panels(); }

starpu_data_handle_t Pivots::handle(Index k) const {
  if (k < 0 || k >= panels())
    throw ArgumentError("Pivots::handle", 1, "k",
                        "is " + std::to_string(k) + ", must be at least 0 and below " + std::to_string(panels()));
  return tiles_->handle(k);
}

template <Scalar T>
void laswp(const Matrix<T>& A, const Pivots& pivots, Index incx) {
  const routines::MatrixArgument at_a{"laswp", 1, "A"};
  routines::require_stored(at_a, A);
  routines::require_whole_columns(at_a, A);
  routines::require_few_rows_of_tiles(at_a, A);
  routines::require_in_place(at_a, A);
  const auto& tiles = detail::PivotsAccess::tiles(pivots);
  routines::require_equal({"laswp", 2, "pivots"}, "rows in their matrix", tiles.rows(), "A", A.m());
  if (incx != 1 && incx != -1)
    throw ArgumentError("laswp", 3, "incx", "is " + std::to_string(incx) + ", must be 1 or -1");
  if (A.m() == 0 || A.n() == 0) return;
  routines::name_operand(A, 'A');
  const auto& session = detail::MatrixAccess::session(A);
  const int gpus = session.machine().has_owners() ? session.machine().gpu_count() : 0;
  sinks::Submitter submitter(session, A);
  algorithms::RowExchanges<sinks::Submitter> exchanges(submitter, tiles);
  algorithms::laswp(exchanges, A, tiles.panels(), incx < 0, gpus);
}

DEFINE_ON_POINTERS(void, laswp, (Scalar T, typename Int),
                   (Index n, T* A, Index lda, Index k1, Index k2, const Int* ipiv, Index incx), laswp_on_pointers,
                   (n, A, lda, routines::RowPairs<Int>{k1, k2, ipiv, incx}))

#define INSTANTIATE_LASWP(letter, T, ...) template void laswp<T>(const Matrix<T>&, const Pivots&, Index);
#define INSTANTIATE_LASWP_ON_POINTERS(letter, T, Int) \
  INSTANTIATE_ON_POINTERS(void, LISTED(laswp<T, Int>), Index, T*, Index, Index, Index, const Int*, Index)
FOR_SDCZ(INSTANTIATE_LASWP, )
FOR_SDCZ(INSTANTIATE_LASWP_ON_POINTERS, std::int32_t)
FOR_SDCZ(INSTANTIATE_LASWP_ON_POINTERS, std::int64_t)

}  // namespace tessera
