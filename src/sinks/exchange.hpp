// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tile/processes.hpp"
#include "tile/tile.hpp"

namespace tessera::sinks {

using tile::Access;

/// The tiles that one call on a distributed matrix sends between processes. The owner of a tile runs the tasks that
/// write it. Every process sees every task, so owner and reader agree on each message without negotiation. A tile is
/// sent to a process once, and again after it has been overwritten.
class Exchange {
 public:
  explicit Exchange(std::shared_ptr<detail::Processes> processes) : processes_(std::move(processes)) {}
  /// Releases the copies of other processes' tiles once the tasks submitted so far have run.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  bool is_mine(starpu_data_handle_t tile) const { return processes_->owner(tile) == processes_->rank(); }
  detail::Processes& processes() const noexcept { return *processes_; }

  /// Sends or receives the tiles that a task reads.
  /// @return  whether this process runs the task
  bool bring(std::span<const Access> accesses, int priority);

  /// Sends or receives a tile before the tasks that read it are submitted.
  void send(starpu_data_handle_t tile, int to, int priority);
  void receive(starpu_data_handle_t tile, int priority);
  /// Makes the tile travel again if a later task reads it. A received copy is released once the tasks submitted so far
  /// have run.
  void forget(starpu_data_handle_t tile);

  /// Sends a tile to all processes that do not have it. From then on, each process has its own copy.
  /// @param processes  number of processes
  void give_to_all(starpu_data_handle_t tile, int processes, int priority);

  /// Assigns a tile that exists only during this call to the owner of another tile.
  void assign(starpu_data_handle_t temporary, starpu_data_handle_t owned_like);

 private:
  std::shared_ptr<detail::Processes> processes_;
  std::unordered_map<starpu_data_handle_t, std::vector<bool>> sent_;  ///< tiles of this process and their recipients
  std::unordered_set<starpu_data_handle_t> received_;
  std::unordered_set<starpu_data_handle_t> temporaries_;  ///< they release themselves
};

}  // namespace tessera::sinks
