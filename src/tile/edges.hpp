// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "split.hpp"

namespace tessera::tile {

/// How a dimension is cut if it is not a multiple of the tile size.
enum class EdgeTiles {
  Ragged,  ///< the last tile is the remainder
  Even,    ///< the last full tile and the remainder are divided into two equal tiles, after Bogdanov and Efremov
  NotLow   ///< Even if the remainder is less than half a tile, otherwise Ragged
};

/// Tiles at the end of a dimension whose size differs from the others.
struct LastTiles {
  Index count = 0, extent = 0;
  Index whole() const noexcept { return count * extent; }
};

/// How one dimension of a matrix is cut into tiles.
class Edges {
 public:
  Edges(Index whole, Index tile, EdgeTiles at_the_edge = EdgeTiles::Ragged)
      : whole_(whole), tile_(tile), regular_(whole == 0 ? 0 : (whole - 1) / tile),
        count_(whole == 0 ? 0 : regular_ + 1), last_(regular_ * tile) {
    if (at_the_edge == EdgeTiles::Ragged || count_ < 2 || whole % tile == 0) return;
    if (at_the_edge == EdgeTiles::NotLow && 2 * (whole % tile) >= tile) return;
    const Index before = last_ - tile, half = divide_up(divide_up(whole - before, 2), grain) * grain;
    if (half <= tile && before + half < whole) last_ = before + half;
  }

  /// Cuts a dimension into regular tiles followed by the last ones.
  /// @pre  there are last tiles, none is larger than a regular tile, and they do not fill the whole dimension
  Edges(Index whole, Index tile, LastTiles last)
      : whole_(whole), tile_(tile), regular_(divide_up(whole - last.whole(), tile)), count_(regular_ + last.count),
        last_(whole - last.whole()), last_extent_(last.extent) {}

  Index whole() const noexcept { return whole_; }
  Index tile() const noexcept { return tile_; }    ///< size of a full tile
  Index count() const noexcept { return count_; }  ///< number of tiles
  /// The start of tile i; for i = count(), the end of the last tile.
  Index begin(Index i) const noexcept {
    return i >= count_ ? whole_ : i >= regular_ ? last_ + (i - regular_) * last_extent_ : i * tile_;
  }
  Index extent(Index i) const noexcept { return begin(i + 1) - begin(i); }

 private:
  static constexpr Index grain = 32;  ///< kernels are faster on columns of whole vectors

  Index whole_, tile_;
  Index regular_;  ///< number of tiles that start at multiples of `tile_`
  Index count_;
  Index last_;             ///< start of the tiles after the regular ones
  Index last_extent_ = 0;  ///< size of each of these tiles, if there are several
};

}  // namespace tessera::tile
