// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/types.hpp>

namespace tessera::tile {

/// A p×q grid of GPUs that share the tiles of a result.
struct OwnerGrid {
  int p = 1, q = 1;
  int size() const noexcept { return p * q; }
};

/// The grid of `gpus` devices that is closest to a square, with p ≤ q. A tile of A is needed by q GPUs, a tile of B by
/// p.
constexpr OwnerGrid owner_grid(int gpus) {
  OwnerGrid grid{1, std::max(gpus, 1)};
  for (int p = 2; p * p <= gpus; p++)
    if (gpus % p == 0) grid = {p, gpus / p};
  return grid;
}

/// Rows and columns of a tile of C, and the length of the sum that one task adds to it [elements].
struct TileExtents {
  Index m = 1, n = 1, k = 1;
};

}  // namespace tessera::tile
