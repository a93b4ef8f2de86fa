// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "codelets/triangle.hpp"

namespace tessera::unroll {

using codelets::Part;

/// The tiles of a result that are computed: all, or those that a triangle has a part of.
struct Region {
  Part part;
  Index across;  ///< of a triangle: how many tiles side by side are as wide as one is high

  constexpr Region(Part which, Index tiles_across = 1) : part(which), across(tiles_across) {}  // NOLINT: a Part is one

  constexpr bool contains(Index i, Index j) const {
    return part == Part::All || (part == Part::Lower ? i >= j / across : i <= j / across);
  }
  /// Whether only a part of tile (i, j) is computed.
  constexpr bool on_diagonal(Index i, Index j) const { return part != Part::All && i == j / across; }

  /// The row in its tile where the diagonal enters column j of tiles, each `width` wide.
  constexpr int first_row(Index j, Index width) const { return static_cast<int>(j % across * width); }

  /// What is computed of a full tile, in units of a triangle on the diagonal.
  constexpr Index work(Index i, Index j) const {
    if (!contains(i, j)) return 0;
    if (!on_diagonal(i, j)) return 2 * across;
    return 2 * (part == Part::Lower ? across - 1 - j % across : j % across) + 1;
  }
  /// How many of mt×nt tiles it has.
  constexpr Index tiles(Index mt, Index nt) const {
    Index count = 0;
    for (Index j = 0; j < nt; j++)
      for (Index i = 0; i < mt; i++) count += contains(i, j) ? 1 : 0;
    return count;
  }
};

}  // namespace tessera::unroll
