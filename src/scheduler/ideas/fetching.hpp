// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "backend.hpp"
#include "reservation_station.hpp"

/// Fetching tiles before their task starts.
///
/// For each tile and memory node, StarPU counts the tasks for which the tile was prefetched. It decrements the count
/// when such a task starts in that memory, provided that the task reads the tile. While the count is above 0, no other
/// prefetch evicts the tile.
namespace tessera::scheduler {

struct State;
struct Worker;

/// The tiles that a worker should request.
struct Prefetches {
  struct Tile {
    TileId tile;
    int priority;  ///< the priority of its task
  };
  std::vector<TaskId> tasks;  ///< prefetch all tiles of these tasks, and count them
  std::vector<Tile> tiles;    ///< prefetch each of these tiles on its own, and count it
  struct Relayed {
    TileId tile;
    unsigned node;  ///< the memory of a peer
    int priority;
  };
  std::vector<Relayed> relayed;  ///< prefetch each of these tiles in the memory of a peer, for no task there
};

/// The time that the links need to bring the tiles that a task reads to a worker, if they are otherwise idle [s]. Tiles
/// that the worker has, is receiving, or will receive for a reserved task take no time. Tiles that a peer has, is
/// receiving, or will receive come from the fastest peer, all others from the host. Costs a few lookups for each tile
/// and GPU.
/// @param all_fit  whether the tiles of all unfinished tasks fit in the worker's memory. Then an operand that no GPU
///                 has takes no time: one of them must load it in any case, and if all put this off, the links to the
///                 host are idle at first
double seconds_to_fetch(const State& state, const Worker& worker, const Task& task, bool all_fit);

/// The locality of a task for a worker by BLASX's Eq. 3: each tile that the task reads counts 2 in the worker's own
/// memory, 1 at a peer, and 0 in host memory.
int hits(const State& state, const Worker& worker, const Task& task);

/// Marks the reserved tasks of a worker whose tiles should be fetched now, and returns the requests in the order of the
/// tasks. If a task overwrites a tile without reading it, only the tiles that it reads are requested, because StarPU
/// would never lower the count of the overwritten tile. The tiles are also requested one by one if one of them comes
/// through the host's memory: StarPU merges these requests, but not those of different tasks, and aborts if more than
/// STARPU_MAXNODES requests wait for the same copy to the host. A task waits if one of its tiles is on its way to a
/// peer. A task whose tiles have all arrived takes over abandoned tiles.
Prefetches fetch_ahead(State& state, Worker& worker);

/// Call this after the tiles that `fetch_ahead` returned have been requested.
void fetches_issued(Worker& worker);

/// Takes a reserved task from a worker that will not run it. The tiles that StarPU counts for the task are abandoned.
TaskPtr take_reserved(State& state, Worker& worker, std::size_t slot);

/// Gives up a task that has already left the reservation station. Its counted tiles are abandoned.
/// @param node  the worker's memory
TaskPtr give_up(State& state, ReservationStation::Slot slot, unsigned node);

/// Tiles that StarPU still counts in a memory for tasks that will not run there, because the tasks were stolen or their
/// worker has left. A later task can lower the count if it reads the tile in that memory and was not counted itself.
///
/// Tiles may end in any thread, without the policy's lock; hence a mutex. No thread waits for anything while it holds
/// it.
class AbandonedTiles {
 public:
  bool empty() const noexcept { return empty_; }
  void add(const std::vector<TileId>& tiles, unsigned node);
  /// Removes and returns the abandoned tiles that a task reads, once each. The task will lower their counts.
  std::vector<TileId> take_over(const Task& task, unsigned node);
  /// Removes a tile that ends.
  void forget(TileId tile);

 private:
  std::mutex mutex_;
  std::map<std::pair<TileId, unsigned>, int> counts_;
  std::atomic<bool> empty_ = true;
};

}  // namespace tessera::scheduler
