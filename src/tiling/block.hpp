// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <tessera/types.hpp>

#include "machine_model.hpp"

namespace tessera::detail {

/// A p×q grid of GPUs that share the tiles of a result.
struct OwnerGrid {
  int p = 1, q = 1;
  int size() const noexcept { return p * q; }
};

/// The grid of `gpus` devices that is closest to a square, with p ≤ q. A tile of A is needed by q GPUs, a tile of B by
/// p.
OwnerGrid owner_grid(int gpus);

/// Rows and columns of a tile of C, and the length of the sum that one task adds to it [elements].
struct TileExtents {
  Index m = 1, n = 1, k = 1;
};

constexpr Index unlimited = std::numeric_limits<Index>::max();

/// A block of C: tiles that are computed together before the next block begins.
struct Block {
  Index rows = 0, columns = 0;  ///< in tiles; 0: all of C is one block
  bool fits_twice = true;       ///< whether each GPU can hold two copies of its part of the block
  bool tile_after_tile = true;  ///< whether each GPU may finish one tile after another
  Index resident = unlimited;   ///< number of terms whose input tiles fit in a GPU's memory together with one copy of
                                ///< its part of the block
};

/// The smallest block for which the links can feed the GPUs, plus a margin. The margin shrinks if the GPUs can then
/// hold two copies of the block. If not even one copy fits with the margin, the block is the largest that fits once.
/// CPU workers need no blocks.
Block choose_block(const MachineModel& machine, TileExtents tile);

}  // namespace tessera::detail
