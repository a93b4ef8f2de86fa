// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/types.hpp>

namespace tessera::common {

/// Calls visit(i, j) for all elements of an m×n matrix, block by block, so that both sides of a transposition stay in
/// the cache.
void for_each_in_blocks(Index m, Index n, auto visit) {
  constexpr Index block = 32;
  for (Index j0 = 0; j0 < n; j0 += block)
    for (Index i0 = 0; i0 < m; i0 += block)
      for (Index j = j0; j < std::min(n, j0 + block); j++)
        for (Index i = i0; i < std::min(m, i0 + block); i++) visit(i, j);
}

}  // namespace tessera::common
