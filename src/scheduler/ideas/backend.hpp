// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "task.hpp"

namespace tessera::scheduler {

/// The memories of the machine and the links between them.
struct Links {
  std::vector<bool> is_gpu;               ///< by memory node: whether it is the memory of a GPU
  std::vector<std::vector<double>> rate;  ///< [MB/s], by source, then by destination; 0 or NaN: not known
};

/// What the policy's ideas ask of the runtime. The policy implements it over StarPU, the tests by tables.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Whether a memory node has a valid copy of a tile. The answer may be out of date when it arrives; nothing but speed
  /// may depend on it.
  virtual bool valid(TileId tile, unsigned node) const = 0;
  /// Whether a memory node has no valid copy, but one is requested or on its way. May be out of date, too.
  virtual bool arriving(TileId tile, unsigned node) const = 0;

  /// The home that the program suggests for a tile, or `no_worker`.
  virtual int suggested_home(TileId tile) const = 0;
  /// Whether the program has planned the memory for the results that it writes at a time, this tile among them.
  virtual bool is_planned(TileId tile) const = 0;
  /// Whether the program allows to fetch a tile by itself, not as part of a task.
  virtual bool may_fetch(TileId tile) const = 0;

  /// Whether a worker is in the scheduling context.
  virtual bool is_member(int worker) const = 0;
  /// The number of the first implementation of a task that a worker can execute; nothing: it can execute none.
  virtual std::optional<unsigned> implementation(TaskId task, int worker) const = 0;
  /// Makes a task run one of its implementations.
  virtual void set_implementation(TaskId task, unsigned number) = 0;
  /// How long a task takes on a worker by the task's own performance model [s]; 0: not known.
  virtual double modelled_seconds(TaskId task, int worker) const = 0;

  /// Tells the runtime whether it has counted the tiles that a task reads as needed in the memory where it will run;
  /// see fetching.hpp.
  virtual void set_counted(TaskId task, bool counted) = 0;
};

}  // namespace tessera::scheduler
