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
  Index k;        ///< which tile of the sum
  Index term;     ///< how many terms of (i, j) come before this one
  bool deferred;  ///< whether the sum starts from zero and β C is added at its end
  int owner;      ///< index of a GPU, or -1: whoever the scheduler says
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
///
/// The first block has nothing to overlap its loads with. It grows as a cube in rows, columns and terms at once
/// (shells): r³ products are possible on 3 r² loaded tiles, where whole layers would need all tiles of C first. For the
/// same reason its C is deferred: it arrives while the sums are under way.
/// @param owners  null: no owners, no skew, no shells
inline std::vector<Step> product_order(Index mt, Index nt, Index kt, Index block_rows, Index block_columns,
                                       const detail::OwnerGrid* owners) {
  if (block_rows <= 0) block_rows = mt;
  if (block_columns <= 0) block_columns = nt;
  std::vector<Step> steps;
  steps.reserve(static_cast<std::size_t>(mt * nt * kt));
  for (Index j0 = 0; j0 < nt; j0 += block_columns)
    for (Index i0 = 0; i0 < mt; i0 += block_rows) {
      const bool deferred = owners != nullptr && i0 == 0 && j0 == 0;
      for (Index s = 0; s < kt; s++)
        for (Index j = j0; j < std::min(nt, j0 + block_columns); j++)
          for (Index i = i0; i < std::min(mt, i0 + block_rows); i++) {
            const Index offset = owners != nullptr ? skew(*owners, i, j, kt) : 0;
            const int owner = owners != nullptr ? owner_of(*owners, i, j) : -1;
            steps.push_back({i, j, (s + offset) % kt, s, deferred, owner});
          }
      if (!deferred) continue;
      const auto shell = [&](const Step& step) {
        return std::max({step.i / owners->p, step.j / owners->q, step.term});
      };
      std::ranges::stable_sort(steps, {}, shell);
    }
  return steps;
}

}  // namespace tessera::unroll
