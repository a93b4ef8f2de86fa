// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <tessera/types.hpp>

namespace tessera::detail {

/// The exchanges of laswp: row i, k1 ≤ i ≤ k2, with row of(i), both counted from 1. They are made in the order of i, or
/// in reverse order if `incx` is negative. If `incx` is 0, there are none.
template <typename Int>
struct RowPairs {
  Index k1, k2;
  const Int* ipiv;
  Index incx;

  bool empty() const { return incx == 0 || k2 < k1; }
  Index of(Index i) const { return static_cast<Index>(ipiv[k1 - 1 + (i - k1) * std::abs(incx)]); }
  /// Calls exchange(i, of(i)), counted from 0, in the order of the exchanges.
  template <typename Exchange>
  void for_each(Exchange exchange) const {
    if (empty()) return;
    for (Index x = k1; x <= k2; x++) {
      const Index i = incx > 0 ? x : k1 + k2 - x;
      if (of(i) != i) exchange(i - 1, of(i) - 1);
    }
  }
};

/// Exchanges rows of a matrix with n columns, in the calling thread.
template <Scalar T, typename Int>
void exchange_rows(Layout layout, Index n, T* A, Index lda, const RowPairs<Int>& pairs) {
  if (layout == Layout::RowMajor)
    return pairs.for_each([&](Index i, Index k) { std::swap_ranges(A + i * lda, A + i * lda + n, A + k * lda); });
  for (Index j = 0; j < n; j++)  // column by column, because a column stays in the cache
    pairs.for_each([column = A + j * lda](Index i, Index k) { std::swap(column[i], column[k]); });
}

}  // namespace tessera::detail
