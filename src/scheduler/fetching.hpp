// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <map>
#include <utility>
#include <vector>

#include "ready_task.hpp"
#include "tile_notes.hpp"

/// Fetching tiles before their task starts.
///
/// StarPU counts, for each tile and memory, the tasks that the tile was prefetched for, and no other prefetch evicts a
/// tile whose count is not 0: the tile is kept. Only one event lowers the count: a prefetched task that reads the tile
/// starts at that memory.
namespace tessera::scheduler {

/// Whether StarPU is to keep the tiles of a task that is prefetched. Not if the task overwrites a tile without reading
/// it: StarPU would count that one, too, and never lower the count. Then each tile that it reads is fetched by itself,
/// if the program allows that.
bool is_to_be_kept(starpu_task* task);

/// The tiles that a task reads, in the order of its arguments.
std::vector<starpu_data_handle_t> read_by(starpu_task* task);

/// Whether a tile of a ready task may be fetched by itself. One that the task also writes is locked by it: StarPU would
/// fetch it when the task is done.
inline bool may_fetch_alone(starpu_data_handle_t tile, int mode) { return mode == STARPU_R && may_fetch(tile); }

/// Copies a result to the host when the link has nothing else to do. The task that wrote it may still hold it.
void write_back(starpu_data_handle_t tile);

/// The tiles that are still kept at a memory for tasks that will not run there: they were stolen, or their worker has
/// left. Nobody can lower StarPU's count for them but a later task, which reads them there and has not been counted
/// itself.
class AbandonedTiles {
 public:
  bool empty() const noexcept { return counts_.empty(); }
  void add(const std::vector<starpu_data_handle_t>& tiles, unsigned node);
  /// Those that a task reads: they are its own from now on.
  std::vector<starpu_data_handle_t> take_over(starpu_task* task, unsigned node);

 private:
  std::map<std::pair<starpu_data_handle_t, unsigned>, int> counts_;
};

}  // namespace tessera::scheduler
