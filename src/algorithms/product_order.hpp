// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include <tessera/types.hpp>

#include "plan.hpp"
#include "tile/extents.hpp"
#include "tile/owners.hpp"
#include "tile/region.hpp"
#include "tile/split.hpp"

/// The order in which the terms of the tiles of a result are submitted. Each tile is a sum of terms.
namespace tessera::algorithms {

using tile::Owners;
using tile::Part;
using tile::Region;

/// One term of the sum for tile (i, j).
struct Step {
  Index i, j;
  Index k;        ///< index of the input tiles in the sum
  Index term;     ///< number of terms of (i, j) submitted earlier
  bool deferred;  ///< whether the sum starts from zero and β C is added at its end
};

/// A block size, a multiple of `gpus`, that cuts `tiles` into blocks of about equal size. Use it for tiles that cannot
/// be distributed evenly: GPUs that run out of work would find too few tiles to steal in a small last block.
inline Index even_blocks(Index tiles, Index block, int gpus) {
  if (tiles == 0) return block;
  const Index each = tile::divide_up(tiles, tile::divide_up(tiles, block));
  return tile::divide_up(each, gpus) * gpus;
}

/// The last fraction of each sum, which a GPU computes tile by tile, so that results leave one after another. The terms
/// before it let the links get ahead of the computation. If a sum has only two terms, both belong to this fraction.
constexpr double finished_tile_by_tile = 0.75;

namespace order {

/// A tile of a block of C.
struct Tile {
  Index i, j;
  Index row, column;  ///< position in the block, counting only tiles of the same owner
  /// The order [elements] of the smallest square that starts at the owner's first tile in the block and contains this
  /// tile. Only tiles of that owner count.
  Index square;
};

/// The tiles of a block that belong to the region, listed by columns.
inline std::vector<Tile> tiles_of_block(Index i0, Index j0, Index i_end, Index j_end, Region region,
                                        tile::OwnerGrid grid, tile::TileExtents tile) {
  std::vector<Tile> tiles;
  for (Index j = j0; j < j_end; j++)
    for (Index i = i0; i < i_end; i++) {
      const Index row = (i - i0) / grid.p, column = (j - j0) / grid.q;
      if (region.contains(i, j))
        tiles.push_back({i, j, row, column, std::max((row + 1) * tile.m, (column + 1) * tile.n)});
    }
  return tiles;
}

/// Visits layer by layer: term `begin` of all tiles, then the next term of all tiles, up to term `end`.
template <typename Visit>
void layers(std::span<const Tile> tiles, Index begin, Index end, Visit visit) {
  for (Index s = begin; s < end; s++)
    for (const auto& tile : tiles) visit(tile, s);
}

/// Visits the first `terms` terms of all tiles in shells of a cube that grows in rows, columns and terms at once.
/// @param depth  growth of the cube in its third dimension per term [elements]
template <typename Visit>
void shells(const std::vector<Tile>& tiles, Index terms, Index depth, Visit visit) {
  auto by_square = tiles;
  std::ranges::stable_sort(by_square, {}, &Tile::square);
  Index term = 0;
  for (auto next = by_square.begin(); next != by_square.end() || term < terms;) {
    constexpr auto none = std::numeric_limits<Index>::max();
    const Index shell =
        std::min(next != by_square.end() ? next->square : none, term < terms ? (term + 1) * depth : none);
    const auto end = std::find_if(next, by_square.end(), [&](const Tile& tile) { return tile.square > shell; });
    layers({next, end}, 0, term, visit);
    next = end;
    if (term == terms || (term + 1) * depth > shell) continue;
    for (const auto& tile : tiles)
      if (tile.square <= shell) visit(tile, term);
    term++;
  }
}

/// Visits terms `begin` up to `end`, and completes the tiles of each owner one after another, in growing squares.
template <typename Visit>
void tile_after_tile(std::vector<Tile> tiles, Index begin, Index end, Visit visit) {
  const auto place = [](const Tile& tile) { return std::tuple(tile.square, tile.row, tile.column); };
  std::ranges::stable_sort(tiles, {}, place);
  for (auto first = tiles.begin(); first != tiles.end();) {
    const auto last = std::find_if(first, tiles.end(), [&](const Tile& tile) { return place(tile) != place(*first); });
    layers({first, last}, begin, end, visit);
    first = last;
  }
}

}  // namespace order

/// Calls visit(step) for all terms of the tiles of a region of an mt×nt result with kt terms per tile, in the order of
/// submission, one block of C after another. It sorts tiles instead of terms, so the first of many tasks can run while
/// the others are submitted.
///
/// If the GPUs have no memory for the inputs of a whole block, the traversal goes down one column of blocks and up the
/// next, and every other block takes its terms from last to first. A block of a full matrix thus begins with the inputs
/// that the previous block used last, which the GPUs still hold.
///
/// For the first terms of a block, the loop over the sum is outermost: all tiles of the block grow together, and each
/// loaded input tile serves a whole row or column of them.
///
/// No earlier work can hide the loads of the first block. It therefore grows as a cube, in shells of rows, columns and
/// terms: 3r² loaded tiles allow r³ products, whereas whole layers would first need all tiles of C. For the same reason
/// its sums are deferred: they start from zero, and C arrives while they are computed.
///
/// The remaining terms are submitted tile by tile if the GPUs have memory for all their inputs. By then the links are
/// ahead, and results are written back while other tiles are computed. GPUs of unequal speed do not use this order: the
/// slower ones would be left with whole tiles, from which others can steal only one task at a time.
///
/// Without owners, the loop over the sum is outermost for all terms of every block.
template <typename Visit>
void for_each_product(Index mt, Index nt, Region region, Index kt, algorithms::Block block, const Owners& owners,
                      tile::TileExtents tile, Visit visit) {
  const auto grid = owners.period();
  if (mt == 0 || nt == 0) return;
  if (block.rows <= 0) block.rows = mt;
  if (block.columns <= 0) block.columns = nt;
  if (mt % grid.p != 0 || nt % grid.q != 0) {
    block.rows = even_blocks(mt, block.rows, grid.p);
    block.columns = even_blocks(nt, block.columns, grid.q);
  }
  const bool few_stay = block.resident < kt;  // whether the GPUs hold only part of a block's inputs
  const auto together = !owners.exist() || !block.tile_after_tile || few_stay
                            ? kt
                            : kt - static_cast<Index>(std::lround(finished_tile_by_tile * static_cast<double>(kt)));
  const Index block_rows = tile::divide_up(mt, block.rows);
  Index visited = 0;  // number of blocks with tiles
  for (Index column = 0; column < tile::divide_up(nt, block.columns); column++)
    for (Index r = 0; r < block_rows; r++) {
      const Index row = few_stay && column % 2 == 1 ? block_rows - 1 - r : r, i0 = row * block.rows,
                  j0 = column * block.columns;
      const auto tiles = order::tiles_of_block(i0, j0, std::min(mt, i0 + block.rows), std::min(nt, j0 + block.columns),
                                               region, grid, tile);
      if (tiles.empty()) continue;
      const bool first = owners.exist() && visited == 0, backwards = few_stay && visited % 2 == 1;
      const auto visit_term = [&](const order::Tile& at, Index s) {
        const Index term = owners.term(at.i, at.j, backwards ? kt - 1 - s : s, kt);
        visit(Step{at.i, at.j, term, s, first && block.fits_twice});
      };
      if (first) order::shells(tiles, together, tile.k, visit_term);
      else order::layers(tiles, 0, together, visit_term);
      order::tile_after_tile(tiles, together, kt, visit_term);
      visited++;
    }
}

}  // namespace tessera::algorithms
