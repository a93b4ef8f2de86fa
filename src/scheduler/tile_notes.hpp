// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <cstdint>

/// What the program tells the policy of a tile. It stays with the tile until it is unregistered, in the place of the
/// pointer that StarPU reserves for schedulers: nothing to allocate, nothing to free.
namespace tessera::scheduler {

constexpr int nobody = -1;  ///< no worker

namespace tile_notes {

constexpr std::intptr_t may_fetch_bit = 1;  // above it: the home, counted from 1; 0: none

inline std::intptr_t get(starpu_data_handle_t tile) {
  return reinterpret_cast<std::intptr_t>(starpu_data_get_sched_data(tile));
}
inline void set(starpu_data_handle_t tile, std::intptr_t notes) {
  starpu_data_set_sched_data(tile, reinterpret_cast<void*>(notes));
}

}  // namespace tile_notes

inline void suggest_home(starpu_data_handle_t tile, int worker) {
  tile_notes::set(tile,
                  (static_cast<std::intptr_t>(worker) + 1) * 2 | (tile_notes::get(tile) & tile_notes::may_fetch_bit));
}
inline int suggested_home(starpu_data_handle_t tile) {
  const auto number = tile_notes::get(tile) / 2;
  return number >= 1 && number <= STARPU_NMAXWORKERS ? static_cast<int>(number - 1) : nobody;
}

/// See `tessera_sched_allow_fetching`.
inline void allow_fetching(starpu_data_handle_t tile) {
  tile_notes::set(tile, tile_notes::get(tile) | tile_notes::may_fetch_bit);
}
inline bool may_fetch(starpu_data_handle_t tile) { return (tile_notes::get(tile) & tile_notes::may_fetch_bit) != 0; }

}  // namespace tessera::scheduler
