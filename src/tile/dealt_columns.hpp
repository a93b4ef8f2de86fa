// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/types.hpp>

#include "split.hpp"

namespace tessera::tile {

/// Distributes a process's tiles of a block of C over its GPUs. Each GPU gets the same number of whole columns. The
/// columns left over, of which there are fewer than GPUs, are laid end to end and cut into equal parts. The numbers of
/// tiles per GPU then differ by at most one, and few GPUs need the same column of B.
class DealtColumns {
 public:
  /// @param rows, columns  tiles of the block that the process owns
  DealtColumns(int gpus, Index rows, Index columns)
      : gpus_(gpus), rows_(rows), whole_(columns / gpus * gpus), left_(columns - whole_) {}

  /// The GPU for a tile, given the tile's position among the process's tiles.
  int of(Index row, Index column) const {
    if (column < whole_) return static_cast<int>(column % gpus_);
    return static_cast<int>(((column - whole_) * rows_ + row) * gpus_ / (left_ * rows_));
  }

  /// A GPU's share: its number of tiles of C, and the numbers of rows and columns that contain these tiles. For each
  /// term of the sum, the GPU reads one tile of A per row, and one tile of B per column.
  struct Part {
    Index tiles = 0, rows = 0, columns = 0;
  };
  Part part(int gpu) const {
    Part part{whole_ / gpus_ * rows_, whole_ > 0 ? rows_ : 0, whole_ / gpus_};
    const Index begin = divide_up(gpu * left_ * rows_, gpus_), end = divide_up((gpu + 1) * left_ * rows_, gpus_);
    if (begin == end) return part;
    part.tiles += end - begin;
    part.rows = std::max(part.rows, std::min(rows_, end - begin));
    part.columns += (end - 1) / rows_ - begin / rows_ + 1;
    return part;
  }

 private:
  Index gpus_, rows_, whole_, left_;
};

}  // namespace tessera::tile
