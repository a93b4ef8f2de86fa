// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "backend.hpp"
#include "pointer_map.hpp"

namespace tessera::scheduler {

/// The chains. A chain is the sequence of tasks that write one tile. Each chain has a home, the worker that runs its
/// tasks.
class Chains {
 public:
  /// @param workers  exclusive upper bound of the worker numbers
  Chains(const Backend& backend, std::size_t workers) : backend_(backend), work_(workers), incomplete_bytes_(workers) {}

  /// Call this when a task that writes the tile has been submitted.
  /// @param flops  of the task; 0: unknown
  void submitted(TileId tile, double flops = 0);
  /// Call this when a task that writes the tile has been executed.
  void finished(TileId tile, double flops = 0);

  /// The home of the tile. Before the first task, this is the home that the program suggests.
  int home(TileId tile) const;
  void set_home(TileId tile, int worker);
  /// Number of unfinished tasks, ready or not, whose home is this worker.
  std::size_t unfinished(int worker) const { return work(worker).tasks; }
  const Work& work(int worker) const { return work_[static_cast<std::size_t>(worker)]; }
  /// Number of unfinished tasks that write the tile; 1 if none is known.
  std::size_t length(TileId tile) const;
  /// The unfinished tasks that write the tile; one if none is known.
  Work work(TileId tile) const;

  /// Call this when the home of the tile reserves a task of the chain. From then on, the tile counts as an incomplete
  /// result.
  /// @param memory  occupied by the tile [bytes]
  void begin(TileId tile, std::size_t memory);
  /// Whether the tile is an incomplete result of the worker.
  bool has_begun(TileId tile, int worker) const;
  /// Memory of the incomplete results of a worker [bytes].
  std::size_t incomplete_bytes(int worker) const { return incomplete_bytes_[static_cast<std::size_t>(worker)]; }
  /// Whether the program had planned the memory for the tile when it submitted a task of the chain.
  bool is_planned(TileId tile) const;

  /// Call this when a worker leaves: its chains lose their home.
  void forget(int worker);

 private:
  struct Chain {
    Work work;
    int home = no_worker;
    std::size_t incomplete_bytes = 0;  ///< memory of the tile; 0: no task has been reserved yet
    bool planned = false;
  };
  void move(Chain& chain, int worker);
  void end(Chain& chain);

  const Backend& backend_;
  PointerMap<TileId, Chain> chains_;           ///< chains with unfinished tasks
  std::vector<Work> work_;                     ///< by home
  std::vector<std::size_t> incomplete_bytes_;  ///< by home
};

}  // namespace tessera::scheduler
