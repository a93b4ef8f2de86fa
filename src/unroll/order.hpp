// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include <tessera/types.hpp>

#include "owners.hpp"
#include "tiling/block.hpp"
#include "tiling/split.hpp"

/// The order in which the terms of the sums that make up the tiles of a result are submitted.
namespace tessera::unroll {

/// One term of the sum that makes up tile (i, j).
struct Step {
  Index i, j;
  Index k;        ///< index of the input tiles along the sum
  Index term;     ///< number of terms of (i, j) submitted before this one
  bool deferred;  ///< whether the sum starts from zero and β C is added at its end
};

/// A block size that cuts `tiles` into blocks of about the same size, a multiple of `gpus`. For tiles that cannot be
/// distributed evenly: a small last block would hold too few tiles for GPUs that run out of work to steal.
inline Index even_blocks(Index tiles, Index block, int gpus) {
  if (tiles == 0) return block;
  const Index each = detail::divide_up(tiles, detail::divide_up(tiles, block));
  return detail::divide_up(each, gpus) * gpus;
}

/// The last part of each sum, which a GPU computes tile by tile so that results leave one after another. The first
/// terms give the links time to get ahead of the computation. If a sum has two terms, this part is both of them.
constexpr double finished_tile_by_tile = 0.75;

/// All terms of the tiles of a region of an mt×nt result with kt terms per tile, in submission order, one block of C
/// after another.
///
/// The loop over the sum is outermost for the first terms of a block: all its tiles grow together, and each loaded
/// input tile serves a whole row or column of them.
///
/// The first block has no earlier work that could hide its loads. It grows as a cube in rows, columns and terms at once
/// (in shells): 3r² loaded tiles allow r³ products, whereas whole layers would need all tiles of C first. For the same
/// reason its sums are deferred: they start from zero, and C arrives while they are computed.
///
/// The remaining terms are submitted tile by tile if the GPUs have memory for the inputs of all of them. The links are
/// ahead by then, and results are written back while other tiles are computed. Unequal GPUs do not use this order:
/// slower ones would be left with whole tiles, from which others can steal only one task at a time.
///
/// Without owners the loop over the sum is outermost for all terms of every block.
inline std::vector<Step> product_order(Index mt, Index nt, Region region, Index kt, detail::Block block,
                                       const Owners& owners, detail::TileExtents tile = {}) {
  const auto grid = owners.period();
  if (block.rows <= 0) block.rows = mt;
  if (block.columns <= 0) block.columns = nt;
  if (mt % grid.p != 0 || nt % grid.q != 0) {
    block.rows = even_blocks(mt, block.rows, grid.p);
    block.columns = even_blocks(nt, block.columns, grid.q);
  }
  const auto together = !block.tile_after_tile || block.resident < kt
                            ? kt
                            : kt - static_cast<Index>(std::lround(finished_tile_by_tile * static_cast<double>(kt)));
  std::vector<Step> steps;
  steps.reserve(static_cast<std::size_t>(mt * nt * kt));
  bool first = owners.exist();
  for (Index j0 = 0; j0 < nt; j0 += block.columns)
    for (Index i0 = 0; i0 < mt; i0 += block.rows) {
      const auto begin = std::ssize(steps);
      for (Index s = 0; s < kt; s++)
        for (Index j = j0; j < std::min(nt, j0 + block.columns); j++)
          for (Index i = i0; i < std::min(mt, i0 + block.rows); i++)
            if (region.contains(i, j)) steps.push_back({i, j, owners.term(i, j, s, kt), s, first && block.fits_twice});
      if (!owners.exist() || std::ssize(steps) == begin) continue;
      // Order, in elements, of the smallest square that contains the tile. The square starts at the first tile of the
      // tile's owner in this block and counts only tiles of that owner.
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
