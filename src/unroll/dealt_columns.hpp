// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

namespace tessera::unroll {

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

 private:
  Index gpus_, rows_, whole_, left_;
};

}  // namespace tessera::unroll
