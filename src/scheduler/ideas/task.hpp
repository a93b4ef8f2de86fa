// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::scheduler {

/// Opaque identifiers of tiles, tasks and codelets. Only the backend knows what they stand for.
using TileId = struct OpaqueTile*;
using TaskId = struct OpaqueTask*;
using CodeletId = const struct OpaqueCodelet*;

constexpr int no_worker = -1;
constexpr unsigned host_node = 0;  ///< the memory node of the host

/// A set of kinds of workers, as a bit mask. All CPU workers are one kind; each GPU is a separate kind.
using Kinds = std::uint64_t;
constexpr int cpu_kind = 0;
constexpr Kinds bit(int kind) { return Kinds{1} << kind; }

/// How a task uses one of its tiles.
struct TileUse {
  TileId tile = nullptr;
  std::size_t bytes = 0;   ///< size of a copy of the tile
  std::size_t memory = 0;  ///< memory that the tile occupies [bytes]
  bool reads = false;
  bool writes = false;
  bool only_reads = false;  ///< the access mode is a plain read, which does not lock the tile
  int home = host_node;     ///< the memory node that results return to; -1: none
};

/// The policy's description of a task.
struct Task {
  TaskId id = nullptr;
  CodeletId codelet = nullptr;
  std::vector<TileUse> tiles;  ///< in the order of the arguments, without workspaces
  TileId output = nullptr;     ///< the first tile that the task writes, whose chain it belongs to; null: none
  std::size_t output_memory = 0;
  std::size_t memory = 0;         ///< occupied by all tiles [bytes]
  double flops = 0;               ///< according to the program; 0: unknown
  int priority = 0;               ///< set by the program
  unsigned long order = 0;        ///< position in the order of submission
  bool restricted = false;        ///< workers of one kind may differ in whether and how they can execute the task
  unsigned implementation = 0;    ///< if restricted: the number of the implementation that a worker has chosen
  Kinds kinds = 0;                ///< the kinds that can execute the task
  std::vector<int> workers = {};  ///< if restricted: the workers that can execute the task, sorted
};

/// The first tile that a task writes, or null.
inline TileId output_of(const std::vector<TileUse>& tiles) {
  const auto output = std::ranges::find(tiles, true, &TileUse::writes);
  return output != tiles.end() ? output->tile : nullptr;
}

/// The arithmetic of a task according to the program, or else as if it multiplied square matrices of doubles.
inline double flops_of(const Task& task) {
  constexpr double matrices = 3;
  const double elements = static_cast<double>(task.memory) / matrices / sizeof(double);
  return task.flops > 0 ? task.flops : 2 * elements * std::sqrt(elements);
}

/// Unfinished tasks.
struct Work {
  std::size_t tasks = 0;
  double flops = 0;  ///< of these tasks, according to the program

  void add(double flops_of_task) { tasks++, flops += flops_of_task; }
  void remove(double flops_of_task) { tasks--, flops = tasks > 0 ? flops - flops_of_task : 0; }
  Work& operator+=(const Work& other) { return tasks += other.tasks, flops += other.flops, *this; }
  Work& operator-=(const Work& other) {
    return tasks -= other.tasks, flops = tasks > 0 ? flops - other.flops : 0, *this;
  }
};

using TaskPtr = std::unique_ptr<Task>;

/// The order of tasks: the program's priority first, then the order of submission.
struct RunsBefore {
  bool operator()(const Task& a, const Task& b) const {
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.order != b.order ? a.order < b.order : a.id < b.id;
  }
  bool operator()(const TaskPtr& a, const TaskPtr& b) const { return (*this)(*a, *b); }
};

}  // namespace tessera::scheduler
