// SPDX-License-Identifier: BSD-3-Clause
#include "fetching.hpp"

#include <starpu_scheduler.h>

namespace tessera::scheduler {

bool is_to_be_kept(starpu_task* task) {
  bool reads_all = true, all_alone = true;
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    if ((mode & STARPU_R) == 0) reads_all = false, all_alone = all_alone && may_fetch(tile);
    else all_alone = all_alone && may_fetch_alone(tile, mode);
  });
  return reads_all || !all_alone;
}

std::vector<starpu_data_handle_t> read_by(starpu_task* task) {
  std::vector<starpu_data_handle_t> tiles;
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    if ((mode & STARPU_R) != 0) tiles.push_back(tile);
  });
  return tiles;
}

/// StarPU's functions for single tiles are meant for the thread that submits tasks. Called from a worker, they abort if
/// the invalidation of the tile has been submitted. Those for tasks are meant for schedulers, so a task that is never
/// submitted stands for the tile.
void write_back(starpu_data_handle_t tile) {
  static starpu_codelet reader = [] {
    starpu_codelet codelet{};
    codelet.nbuffers = 1;
    codelet.modes[0] = STARPU_R;
    return codelet;
  }();
  starpu_task task;
  starpu_task_init(&task);
  task.cl = &reader;
  task.handles[0] = tile;
  starpu_idle_prefetch_task_input_on_node_prio(&task, STARPU_MAIN_RAM, STARPU_DEFAULT_PRIO);
  starpu_task_clean(&task);
}

void AbandonedTiles::add(const std::vector<starpu_data_handle_t>& tiles, unsigned node) {
  for (auto* const tile : tiles) counts_[{tile, node}]++;
}

std::vector<starpu_data_handle_t> AbandonedTiles::take_over(starpu_task* task, unsigned node) {
  auto tiles = read_by(task);
  std::erase_if(tiles, [&](starpu_data_handle_t tile) {
    const auto count = counts_.find({tile, node});
    if (count == counts_.end()) return true;
    if (--count->second == 0) counts_.erase(count);
    return false;
  });
  return tiles;
}

}  // namespace tessera::scheduler
