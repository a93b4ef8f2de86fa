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

/// How one dimension of a matrix is cut into tiles.
class Edges {
 public:
  Edges(Index whole, Index tile, EdgeTiles at_the_edge = EdgeTiles::Ragged)
      : whole_(whole), tile_(tile), count_(whole == 0 ? 0 : (whole - 1) / tile + 1) {
    last_ = std::max<Index>(0, count_ - 1) * tile;
    if (at_the_edge == EdgeTiles::Ragged || count_ < 2 || whole % tile == 0) return;
    if (at_the_edge == EdgeTiles::NotLow && 2 * (whole % tile) >= tile) return;
    const Index before = last_ - tile, half = divide_up(divide_up(whole - before, 2), grain) * grain;
    if (half <= tile && before + half < whole) last_ = before + half;
  }

  Index whole() const noexcept { return whole_; }
  Index tile() const noexcept { return tile_; }    ///< extent of a full tile
  Index count() const noexcept { return count_; }  ///< number of tiles
  /// Where tile i begins; for i = count(), where the last one ends.
  Index begin(Index i) const noexcept { return i >= count_ ? whole_ : i + 1 == count_ ? last_ : i * tile_; }
  Index extent(Index i) const noexcept { return begin(i + 1) - begin(i); }

 private:
  static constexpr Index grain = 32;  ///< kernels are faster on columns of whole vectors

  Index whole_, tile_, count_;
  Index last_;  ///< where the last tile begins
};

}  // namespace tessera::detail
