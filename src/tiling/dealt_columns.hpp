// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/types.hpp>

#include "split.hpp"

namespace tessera::detail {

/// Deals a process's tiles of a block of C over its GPUs: whole columns, as many to each GPU. A few columns may be
/// left, fewer than GPUs. They are cut into a part for each GPU, one column after another, so that no GPU has more than
/// one tile more than another, and few need the same column of B.
class DealtColumns {
 public:
  /// @param rows, columns  tiles of the block that the process has
  DealtColumns(int gpus, Index rows, Index columns)
      : gpus_(gpus), rows_(rows), whole_(columns / gpus * gpus), left_(columns - whole_) {}

  /// The GPU of a tile, by its place among those of the process.
  int of(Index row, Index column) const {
    if (column < whole_) return static_cast<int>(column % gpus_);
    return static_cast<int>(((column - whole_) * rows_ + row) * gpus_ / (left_ * rows_));
  }

  /// What a GPU has: tiles of C, and the rows and columns in which they lie. For each term of the sum it reads a tile
  /// of A for each row, and a tile of B for each column.
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

}  // namespace tessera::detail
