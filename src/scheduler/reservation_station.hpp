// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fetching.hpp"
#include "ready_task.hpp"
#include "tile_cache.hpp"

namespace tessera::scheduler {

/// The few tasks that a worker has chosen, in the order in which it will run them.
class ReservationStation {
 public:
  struct Slot {
    ReadyTask task;
    bool prefetched = false;  ///< its tiles have been asked for, and stay until it has run
    bool waits = false;       ///< one of its tiles is on its way to a peer, and will be copied from there
    bool issuing = false;     ///< its worker is about to ask for tiles: nobody may take it
    bool wide = false;        ///< its tiles fill more than half of its worker's memory
    std::vector<starpu_data_handle_t> kept = {};  ///< tiles that StarPU keeps for it
  };

  /// What is to be asked for.
  struct Prefetches {
    struct Tile {
      starpu_data_handle_t handle;
      int priority;  ///< its task's
    };
    std::vector<starpu_task*> tasks;  ///< all tiles of these, to be kept
    std::vector<Tile> tiles;          ///< each by itself
  };

  bool empty() const noexcept { return slots_.empty(); }
  /// Of the tiles of its tasks, each counted once: what they need room for. Not of results that were there already.
  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t size() const noexcept { return slots_.size(); }
  const std::deque<Slot>& slots() const noexcept { return slots_; }

  /// How many more there would be with another task.
  /// @param node  the worker's memory
  std::size_t additional_bytes(const ReadyTask& task, unsigned node) const;

  void reserve(const ReadyTask& task, unsigned node, bool wide);

  /// Marks what is to be fetched ahead now, and returns it: in order, except what had better wait for a peer.
  /// @param abandoned  a task that reads such tiles takes them over, if it needs no prefetch
  Prefetches to_prefetch(const TileCache& cache, AbandonedTiles& abandoned, unsigned node, bool wait_for_peers);
  /// What `to_prefetch` returned has been asked for.
  void issued();

  /// The first task that can start at once; if there is none and the worker is idle, the first that waits for no peer;
  /// if all do, and no peer needs a tile that they wait for, the first.
  /// @param awaited  whether a peer will run a task that a tile is fetched for
  std::optional<Slot> next(unsigned node, bool idle, const std::function<bool(starpu_data_handle_t tile)>& awaited);

  /// Takes a task out.
  Slot remove(std::size_t index);

 private:
  struct Use {
    int tasks = 0;  ///< that are reserved and have the tile
    std::size_t bytes = 0;
  };

  std::deque<Slot> slots_;
  std::unordered_map<starpu_data_handle_t, Use> uses_;
  std::size_t bytes_ = 0;  ///< of all uses
};

}  // namespace tessera::scheduler
