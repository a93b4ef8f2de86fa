// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <vector>

#include "pointer_map.hpp"
#include "tile_cache.hpp"

namespace tessera::scheduler {

/// A tile that a worker copies from a peer, and that has been requested there for this purpose; see relaying.hpp.
struct Relay {
  TileId tile = nullptr;
  unsigned node = 0;  ///< the memory of the peer
  double until = 0;   ///< when the worker stops waiting for it [s]
};

/// The few tasks that a worker has chosen to run next, in order.
class ReservationStation {
 public:
  struct Slot {
    TaskPtr task;
    bool prefetched = false;           ///< the task's tiles have been requested, and stay until it has run
    bool waits = false;                ///< a tile of the task is on its way to a peer, and will be copied from there
    bool issuing = false;              ///< the worker is about to request tiles, so no other worker may take the task
    bool large = false;                ///< the task's tiles occupy more than half of the worker's memory
    std::vector<TileId> counted = {};  ///< the tiles that StarPU counts as needed by the task; see fetching.hpp
    std::vector<Relay> relays = {};    ///< the tiles of the task that peers load for the worker
  };

  bool empty() const noexcept { return slots_.empty(); }
  std::size_t size() const noexcept { return slots_.size(); }
  const std::deque<Slot>& slots() const noexcept { return slots_; }
  std::deque<Slot>& slots() noexcept { return slots_; }

  /// The memory that the reserved tasks need [bytes]. Each tile counts once, and results that are already there do not
  /// count.
  std::size_t bytes() const noexcept { return bytes_; }
  /// Whether a reserved task uses a tile.
  bool uses(TileId tile) const { return uses_.contains(tile); }

  /// The additional memory for one more task [bytes].
  /// @param node  the worker's memory
  std::size_t additional_bytes(const Task& task, const TileCache& cache, unsigned node) const;

  /// Inserts a task in the order of `RunsBefore`.
  void reserve(TaskPtr task, const TileCache& cache, unsigned node, bool large);
  /// Takes a task out.
  Slot remove(std::size_t index);

 private:
  struct Use {
    int tasks = 0;          ///< number of reserved tasks that use the tile
    std::size_t bytes = 0;  ///< the memory that it needs
  };

  std::deque<Slot> slots_;
  PointerMap<TileId, Use> uses_;
  std::size_t bytes_ = 0;  ///< sum over all uses
};

}  // namespace tessera::scheduler
