// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "task.hpp"

namespace tessera::scheduler {

/// The memory nodes of the machine and the links between them.
struct Links {
  std::vector<bool> is_gpu;               ///< by memory node: whether it belongs to a GPU
  std::vector<std::vector<double>> rate;  ///< [MB/s], by source, then destination; 0 or NaN: unknown
};

/// The runtime as seen by the policy's ideas. The policy implements it on StarPU, the tests on tables.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Whether a memory node has a valid copy of a tile. The answer may already be out of date: use it to improve
  /// performance, never for correctness.
  virtual bool valid(TileId tile, unsigned node) const = 0;
  /// Whether a memory node has requested or is receiving a copy of a tile. The answer may be out of date, too.
  virtual bool arriving(TileId tile, unsigned node) const = 0;

  /// Whether the runtime knows that copies between two GPUs take wires of their own, such as NVLink.
  virtual bool has_own_wires(unsigned source, unsigned destination) const = 0;

  /// The home that the program suggests for a tile, or `no_worker`.
  virtual int suggested_home(TileId tile) const = 0;
  /// Whether the program has marked this tile as part of a planned block of results; see `tessera_sched_plan_result`.
  virtual bool is_planned(TileId tile) const = 0;
  /// Whether the program allows fetching a tile on its own, that is, not as part of a task.
  virtual bool may_fetch(TileId tile) const = 0;

  /// Whether a worker is in the scheduling context.
  virtual bool is_member(int worker) const = 0;
  /// The number of the first implementation of a task that a worker can execute; empty if there is none.
  virtual std::optional<unsigned> implementation(TaskId task, int worker) const = 0;
  /// Selects the implementation that a task runs.
  virtual void set_implementation(TaskId task, unsigned number) = 0;
  /// The duration of a task on a worker according to the task's own performance model [s]; 0: unknown.
  virtual double modelled_seconds(TaskId task, int worker) const = 0;

  /// Tells the runtime whether the policy has counted the tiles that a task reads as needed in the memory where the
  /// task will run; see fetching.hpp.
  virtual void set_counted(TaskId task, bool counted) = 0;
};

}  // namespace tessera::scheduler
