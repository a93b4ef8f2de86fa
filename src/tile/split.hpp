// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/types.hpp>

namespace tessera::tile {

/// The maximum number of tiles in a panel of an LU factorization. Kernels receive the tiles' addresses as an argument.
inline constexpr Index most_tiles_of_panel = 128;

constexpr Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

/// The number of partial sums into which the k terms of each element are split, for a result of `tiles` tiles. It
/// exceeds one only if there are fewer tiles than workers, and each sum is long enough to outweigh the additional
/// addition.
constexpr Index sums_per_tile(Index workers, Index tiles, Index k) {
  constexpr Index shortest_sum = 200;
  return std::max<Index>(1, std::min(workers / std::max<Index>(1, tiles), k / shortest_sum));
}

}  // namespace tessera::tile
