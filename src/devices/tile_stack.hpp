// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "kernel_tile.hpp"

namespace tessera::device {

/// A column of tiles, all but the last of the same height. Rows are counted from the first row of the first tile.
template <typename T>
class TileStack {
 public:
  TileStack(void* const buffers[], int count) {
    for (int i = 0; i < count; i++) tiles_.push_back(device::tile<T>(buffers[i]));
    m_ = (count - 1) * tile_m() + tiles_.back().m;
  }

  int m() const { return m_; }
  int n() const { return tiles_.front().n; }
  int tile_m() const { return tiles_.front().m; }
  int count() const { return static_cast<int>(tiles_.size()); }
  const Tile<T>& tile(int i) const { return tiles_[static_cast<std::size_t>(i)]; }

  /// The part of rows [begin, end) that lies in tile i, which may be empty.
  Tile<T> part(int i, int begin, int end) const {
    const auto& [data, m, n, ld] = tile(i);
    const int from = std::clamp(begin - i * tile_m(), 0, m), to = std::clamp(end - i * tile_m(), from, m);
    return {data + from, to - from, n, ld};
  }
  /// Rows [begin, end), which must lie in one tile.
  Tile<T> rows(int begin, int end) const { return part(begin / tile_m(), begin, end); }

  T& at(int i, int j) const { return *element(tile(i / tile_m()), i % tile_m(), j); }

 private:
  std::vector<Tile<T>> tiles_;
  int m_;
};

}  // namespace tessera::device
