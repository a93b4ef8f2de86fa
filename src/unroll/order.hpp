// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <tessera/types.hpp>

#include "tile_size.hpp"

/// In what order the tile products of a routine are submitted, and which GPU owns which tile of the result.
namespace tessera::unroll {

/// One term of the sum that makes tile (i, j).
struct Step {
  Index i, j;
  Index k;     ///< which tile of the sum
  bool first;  ///< the first term of (i, j) to be added
  int owner;   ///< index of a GPU, or -1: whoever the scheduler says
};

/// Tiles of the result are dealt out to the grid as to a chessboard.
constexpr int owner_of(detail::OwnerGrid grid, Index i, Index j) {
  return static_cast<int>((i % grid.p) * grid.q + j % grid.q);
}

/// Where an owner starts its sum over `count` terms; it wraps around at the end. A tile of an input is wanted by all
/// owners of a row or a column of the grid: these offsets make them want it at different times, so that the later ones
/// find it on a peer and it crosses a host link once.
constexpr Index skew(detail::OwnerGrid grid, Index i, Index j, Index count) {
  const Index period = std::max(grid.p, grid.q);
  return (i % grid.p + j % grid.q) % period * count / period;
}

/// All terms of an mt×nt result with kt terms a tile: block by block of C, and within a block the sum outermost, so
/// that all tiles of the block grow together and each loaded input tile serves a whole row or column of them.
/// @param owners  null: no owners and no skew
inline std::vector<Step> product_order(Index mt, Index nt, Index kt, Index block_rows, Index block_columns,
                                       const detail::OwnerGrid* owners) {
  if (block_rows <= 0) block_rows = mt;
  if (block_columns <= 0) block_columns = nt;
  std::vector<Step> steps;
  steps.reserve(static_cast<std::size_t>(mt * nt * kt));
  for (Index j0 = 0; j0 < nt; j0 += block_columns)
    for (Index i0 = 0; i0 < mt; i0 += block_rows)
      for (Index s = 0; s < kt; s++)
        for (Index j = j0; j < std::min(nt, j0 + block_columns); j++)
          for (Index i = i0; i < std::min(mt, i0 + block_rows); i++) {
            const Index offset = owners != nullptr ? skew(*owners, i, j, kt) : 0;
            const int owner = owners != nullptr ? owner_of(*owners, i, j) : -1;
            steps.push_back({i, j, (s + offset) % kt, s == 0, owner});
          }
  return steps;
}

}  // namespace tessera::unroll
