// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/not_copyable.hpp"
#include "tile/processes.hpp"
#include "tile/tile.hpp"

namespace tessera::sinks {

using tile::Access;

/// The tiles that one call on a distributed matrix sends between processes. The owner of a tile runs the tasks that
/// write it. Every process sees every task, so owner and reader agree on each message without negotiation. A tile is
/// sent to a process once, and again after it has been overwritten.
class Exchange : common::NotCopyable {
 public:
  explicit Exchange(std::shared_ptr<tile::Processes> processes) : processes_(std::move(processes)) {}
  /// Releases the copies of other processes' tiles once the tasks submitted so far have run.
  ~Exchange();

  bool is_mine(starpu_data_handle_t tile) const { return processes_->owner(tile) == processes_->rank(); }
  tile::Processes& processes() const noexcept { return *processes_; }

  /// Limits the memory for copies of other processes' tiles, as far as `forget` permits: before a tile is received, the
  /// tasks that read the longest forgotten ones must have run. StarPU-MPI may keep tiles that arrive earlier.
  /// @param bytes  at most this for all copies, or one tile
  /// @param order  submits an empty task with these accesses
  void limit(std::size_t bytes, std::function<void(std::span<const Access>)> order);

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
  /// Whether the memory for copies of a tile is limited.
  bool is_limited(starpu_data_handle_t tile) const { return most_ > 0 && !temporaries_.contains(tile); }
  /// Makes a received tile wait until there is memory for it.
  void wait_for_memory(starpu_data_handle_t tile);

  std::shared_ptr<tile::Processes> processes_;
  std::unordered_map<starpu_data_handle_t, std::vector<bool>> sent_;  ///< tiles of this process and their recipients
  std::unordered_set<starpu_data_handle_t> received_;
  std::unordered_set<starpu_data_handle_t> temporaries_;  ///< temporary tiles, which release themselves
  std::size_t most_ = 0, held_ = 0;  ///< bytes of copies: the limit (0: none), and those not yet given to later tiles
  std::function<void(std::span<const Access>)> order_;
  std::deque<starpu_data_handle_t> forgotten_;  ///< copies whose memory no later tile has been given yet
};

}  // namespace tessera::sinks
