// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "ended.hpp"

namespace tessera::trace {

/// What of a run belongs together, for the analysis: each question is answered in O(log t).
class Lookups {
 public:
  /// Events this close together are told in one order or the other by chance [s].
  static constexpr double tolerance = 1e-6;

  explicit Lookups(const Run& all);

  const Run& run;

  /// Whether a tile is brought and kept for it.
  static bool lasts(const Access& access) { return !access.scratch && access.tile != none; }
  bool started(const Task& task) const { return task.worker != none && task.start < run.span; }
  bool on_gpu(const Task& task) const { return started(task) && run.workers[task.worker].kind == Kind::Gpu; }
  /// Times of what had not ended yet when the trace ends are cut off there.
  double start(const Task& task) const { return std::clamp(task.start, 0.0, run.span); }
  double end(const Task& task) const { return std::clamp(task.end, start(task), run.span); }
  double start(const Transfer& transfer) const { return std::clamp(transfer.start, 0.0, run.span); }
  double end(const Transfer& transfer) const { return std::clamp(transfer.end, start(transfer), run.span); }
  double submitted(const Task& task) const { return std::clamp(task.submitted, 0.0, start(task)); }
  /// When StarPU said so; not after its start.
  double ready(const Task& task) const { return std::clamp(std::max(task.submitted, task.ready), 0.0, start(task)); }
  /// When it was submitted and all that it depends on had ended. StarPU makes it ready some time later.
  double unblocked(const Task& task) const;
  /// That of the tasks it depends on which ended last, if the task was submitted by then.
  int made_ready_by(const Task& task) const;

  /// In the order of their starts.
  std::span<const int> tasks_of(int worker) const { return tasks_of_[worker]; }
  /// What a transfer was for: the next task on its node that reads the tile, and as which of its accesses.
  struct Use {
    int task = none, access = none;
  };
  Use use_of(int transfer) const { return uses_[transfer]; }
  /// The last of the transfers that had brought what the task reads by the time of its start.
  int last_arrival(const Task& task) const;

  /// Whether it took to the host what a task had written.
  bool brings_result(const Transfer& transfer) const {
    return run.nodes[transfer.to].kind == Kind::Host && writers.last(transfer.tile, transfer.end) != none;
  }

  Ended workers;   ///< tasks
  Ended writers;   ///< tasks by the tiles that they wrote
  Ended arrivals;  ///< transfers by node and tile
  Ended links;     ///< transfers
  Ended results;   ///< transfers that bring results: all under 0
  std::int64_t at(int node, int tile) const { return std::int64_t{tile} * std::ssize(run.nodes) + node; }
  std::int64_t link(int from, int to) const { return std::int64_t{from} * std::ssize(run.nodes) + to; }

 private:
  void find_uses();

  std::vector<std::vector<int>> tasks_of_;
  std::vector<Use> uses_;
};

}  // namespace tessera::trace
