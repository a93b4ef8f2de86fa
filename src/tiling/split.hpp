// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/types.hpp>

namespace tessera::detail {

/// Tiles that lie one below another in a panel of an LU factorization. Kernels get their addresses as an argument.
inline constexpr Index most_tiles_of_panel = 128;

constexpr Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

/// The number of sums into which the k terms of each element of a result of `tiles` tiles are split. It is more than
/// one only if there are fewer tiles than workers and each sum is long enough to pay for its addition. On two cores,
/// splitting into two sums of 256 terms paid, splitting into two sums of 64 did not.
constexpr Index sums_per_tile(Index workers, Index tiles, Index k) {
  constexpr Index shortest_sum = 200;
  return std::max<Index>(1, std::min(workers / std::max<Index>(1, tiles), k / shortest_sum));
}

}  // namespace tessera::detail
