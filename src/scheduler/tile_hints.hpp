// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <cstdint>

#include "ideas/task.hpp"

/// Hints of the program to the policy about a tile. They are stored as bits in the pointer that StarPU reserves for
/// schedulers in each handle, so nothing is allocated or freed. They last until the tile is unregistered.
namespace tessera::scheduler {

namespace tile_hints {

/// The lowest bits. The bits above them hold the suggested home plus 1, or 0 for none.
constexpr std::intptr_t may_fetch_bit = 1, planned_bit = 2, home_unit = 4;

inline std::intptr_t get(starpu_data_handle_t tile) {
  return reinterpret_cast<std::intptr_t>(starpu_data_get_sched_data(tile));
}
inline void set(starpu_data_handle_t tile, std::intptr_t hints) {
  starpu_data_set_sched_data(tile, reinterpret_cast<void*>(hints));
}

}  // namespace tile_hints

/// See `tessera_sched_suggest_home`.
inline void suggest_home(starpu_data_handle_t tile, int worker) {
  const auto others = tile_hints::get(tile) & (tile_hints::home_unit - 1);
  tile_hints::set(tile, (static_cast<std::intptr_t>(worker) + 1) * tile_hints::home_unit | others);
}
inline int suggested_home(starpu_data_handle_t tile) {
  const auto number = tile_hints::get(tile) / tile_hints::home_unit;
  return number >= 1 && number <= STARPU_NMAXWORKERS ? static_cast<int>(number - 1) : no_worker;
}

/// See `tessera_sched_plan_result`.
inline void plan_result(starpu_data_handle_t tile, bool planned) {
  const auto others = tile_hints::get(tile) & ~tile_hints::planned_bit;
  tile_hints::set(tile, others | (planned ? tile_hints::planned_bit : 0));
}
inline bool is_planned(starpu_data_handle_t tile) { return (tile_hints::get(tile) & tile_hints::planned_bit) != 0; }

/// See `tessera_sched_allow_fetching`.
inline void allow_fetching(starpu_data_handle_t tile) {
  tile_hints::set(tile, tile_hints::get(tile) | tile_hints::may_fetch_bit);
}
inline bool may_fetch(starpu_data_handle_t tile) { return (tile_hints::get(tile) & tile_hints::may_fetch_bit) != 0; }

}  // namespace tessera::scheduler
