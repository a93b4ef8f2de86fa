// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <cstddef>

/// The tiles of matrices without memory that have no value yet, because no task that writes them has been submitted.
/// StarPU would end the program if a task read such a tile.
namespace tessera::detail::unwritten {

inline std::atomic<std::size_t> count = 0;  // keeps the checks below cheap as long as there is no such tile

/// The slow paths of `contain` and `remove`.
bool are_known_to_contain(starpu_data_handle_t tile);
void remove_known(starpu_data_handle_t tile);

void add(starpu_data_handle_t tile);
inline bool contain(starpu_data_handle_t tile) { return count > 0 && are_known_to_contain(tile); }
/// Call this when a task that writes the tile has been submitted, and at the end of the tile.
inline void remove(starpu_data_handle_t tile) {
  if (count > 0) remove_known(tile);
}

}  // namespace tessera::detail::unwritten
