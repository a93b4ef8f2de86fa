// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/types.hpp>

#include "common/triangle.hpp"

namespace tessera::tile {

using common::Part;

/// The tiles of a result to compute: all, or those that intersect a triangle.
struct Region {
  Part part;
  Index across;  ///< for a triangle: number of tile columns that the diagonal crosses in one tile row

  // NOLINTNEXTLINE: converts implicitly, since a Part is a region
  constexpr Region(Part which, Index tiles_across = 1) : part(which), across(tiles_across) {}

  /// The region of a triangle of mt×nt tiles.
  /// @param mb, nb  rows and columns of a tile; with more than one tile row, mb is a multiple of nb
  static constexpr Region triangle(Uplo uplo, Index mt, Index nt, Index mb, Index nb) {
    return {common::part_of(uplo), mt > 1 ? mb / nb : std::max<Index>(1, nt)};
  }

  constexpr bool contains(Index i, Index j) const {
    return part == Part::All || (part == Part::Lower ? i >= j / across : i <= j / across);
  }
  /// Whether only a part of tile (i, j) is computed.
  constexpr bool on_diagonal(Index i, Index j) const { return part != Part::All && i == j / across; }

  /// The row, within its tile, at which the diagonal enters tile column j. Tiles have `width` columns.
  constexpr int first_row(Index j, Index width) const { return static_cast<int>(j % across * width); }

  /// The work on tile (i, j): the size of its computed part, as for a full tile of nb columns. Unit: nb²/2 elements.
  constexpr Index work(Index i, Index j) const {
    if (!contains(i, j)) return 0;
    if (!on_diagonal(i, j)) return 2 * across;
    return 2 * (part == Part::Lower ? across - 1 - j % across : j % across) + 1;
  }
  /// The number of tiles of an mt×nt result that are computed.
  constexpr Index tiles(Index mt, Index nt) const {
    if (part == Part::All) return mt * nt;
    Index count = 0;
    for (Index j = 0; j < nt; j++)
      count += part == Part::Lower ? std::max<Index>(0, mt - j / across) : std::min(mt, j / across + 1);
    return count;
  }
};

}  // namespace tessera::tile
