// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/types.hpp>

#include "split.hpp"

namespace tessera::detail {

/// What happens where the extent of a tile does not divide a dimension.
enum class EdgeTiles {
  Ragged,  ///< the last tile is what is left
  Even,    ///< the last two tiles share equally what the last full tile and the rest have, as Bogdanov and Efremov do
  NotLow   ///< even if the last tile would be less than half of a full one, else ragged
};

/// Tiles at the end of a dimension that differ from those before them.
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

  /// Regular tiles, then the last ones.
  /// @pre  there are last tiles, none is larger than a regular one, and they are not the whole dimension
  Edges(Index whole, Index tile, LastTiles last)
      : whole_(whole), tile_(tile), regular_(divide_up(whole - last.whole(), tile)), count_(regular_ + last.count),
        last_(whole - last.whole()), last_extent_(last.extent) {}

  Index whole() const noexcept { return whole_; }
  Index tile() const noexcept { return tile_; }    ///< extent of a full tile
  Index count() const noexcept { return count_; }  ///< number of tiles
  /// Where tile i begins; for i = count(), where the last one ends.
  Index begin(Index i) const noexcept {
    return i >= count_ ? whole_ : i >= regular_ ? last_ + (i - regular_) * last_extent_ : i * tile_;
  }
  Index extent(Index i) const noexcept { return begin(i + 1) - begin(i); }

 private:
  static constexpr Index grain = 32;  ///< kernels are faster on columns of whole vectors

  Index whole_, tile_;
  Index regular_;  ///< tiles that begin at multiples of `tile_`
  Index count_;
  Index last_;             ///< where the tiles after these begin
  Index last_extent_ = 0;  ///< of each of them, if there are several
};

}  // namespace tessera::detail
