// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include <tessera/types.hpp>

#include "owners.hpp"
#include "tile_size.hpp"

/// In what order the terms of the sums that make the tiles of a result are submitted.
namespace tessera::unroll {

/// One term of the sum that makes tile (i, j).
struct Step {
  Index i, j;
  Index k;        ///< which tile of the sum
  Index term;     ///< how many terms of (i, j) come before this one
  bool deferred;  ///< whether the sum starts from zero and β C is added at its end
};

/// Blocks of about the same size: where the tiles cannot be dealt out evenly, a small last block would have too few for
/// those with less to do to take from the others.
inline Index even_blocks(Index tiles, Index block, int gpus) {
  if (tiles == 0) return block;
  const Index each = detail::divide_up(tiles, detail::divide_up(tiles, block));
  return detail::divide_up(each, gpus) * gpus;
}

/// The part of each sum that a GPU adds tile by tile, so that results leave one after another: all but the terms with
/// which the links catch up. Of two terms, that is both.
constexpr double finished_in_turn = 0.75;

/// All terms of the tiles of a region of an mt×nt result with kt terms a tile: block by block of C.
///
/// The first terms of a block come with the sum outermost, so that all of its tiles grow together and each loaded input
/// tile serves a whole row or column of them. The first block has nothing to overlap its loads with. It grows as a cube
/// in rows, columns and terms at once (shells): r³ products are possible on 3 r² loaded tiles, where whole layers would
/// need all tiles of C first. For the same reason its C is deferred: it arrives while the sums are under way.
///
/// The other terms come tile by tile, if there is room for the inputs of all of them: the links are ahead by then, and
/// results go home while others are computed. Not where GPUs are unequal: the slower ones would be left with whole
/// tiles, of which only one task at a time can be taken from them. Without owners there is none of that.
inline std::vector<Step> product_order(Index mt, Index nt, Region region, Index kt, detail::Block block,
                                       const Owners& owners, detail::TileExtents tile = {}) {
  const auto grid = owners.grid();
  if (block.rows <= 0) block.rows = mt;
  if (block.columns <= 0) block.columns = nt;
  if (mt % grid.p != 0 || nt % grid.q != 0) {
    block.rows = even_blocks(mt, block.rows, grid.p);
    block.columns = even_blocks(nt, block.columns, grid.q);
  }
  const auto together = !block.in_turn || block.kept < kt
                            ? kt
                            : kt - static_cast<Index>(std::lround(finished_in_turn * static_cast<double>(kt)));
  std::vector<Step> steps;
  steps.reserve(static_cast<std::size_t>(mt * nt * kt));
  bool first = owners.exist();
  for (Index j0 = 0; j0 < nt; j0 += block.columns)
    for (Index i0 = 0; i0 < mt; i0 += block.rows) {
      const auto begin = std::ssize(steps);
      for (Index s = 0; s < kt; s++)
        for (Index j = j0; j < std::min(nt, j0 + block.columns); j++)
          for (Index i = i0; i < std::min(mt, i0 + block.rows); i++)
            if (region.contains(i, j)) steps.push_back({i, j, owners.term(i, j, s, kt), s, first && block.roomy});
      if (!owners.exist() || std::ssize(steps) == begin) continue;
      // Elements of the smallest square of C, from the first tile of its owner on, that has the tile in it.
      const auto square = [&](const Step& step) {
        return std::max(((step.i - i0) / grid.p + 1) * tile.m, ((step.j - j0) / grid.q + 1) * tile.n);
      };
      std::ranges::stable_sort(steps.begin() + begin, steps.end(), {}, [&](const Step& step) {
        if (step.term >= together) return std::tuple(2, square(step), (step.i - i0) / grid.p, (step.j - j0) / grid.q);
        const Index shell = first ? std::max(square(step), (step.term + 1) * tile.k) : 0;
        return std::tuple(1, shell, Index{0}, Index{0});
      });
      first = false;
    }
  return steps;
}

}  // namespace tessera::unroll
