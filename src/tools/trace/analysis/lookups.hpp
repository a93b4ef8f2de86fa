// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "trace/recorded_run.hpp"

namespace tessera::trace {

/// Tasks or transfers, ordered by a key (a worker, a link, a tile on a node) and by their end.
class Ended {
 public:
  void add(std::int64_t key, double end, int index) { entries_.push_back({key, end, index}); }
  void sort() { std::sort(entries_.begin(), entries_.end()); }

  /// The last wanted entry that ended by `until`, or `none`. Gives up after a few unwanted entries.
  int last(std::int64_t key, double until, auto wanted) const {
    constexpr int patience = 8;
    auto at = std::upper_bound(entries_.begin(), entries_.end(), Entry{key, until, std::numeric_limits<int>::max()});
    for (int tried = 0; tried < patience && at != entries_.begin() && (at - 1)->key == key; ++tried)
      if (wanted((--at)->index)) return at->index;
    return none;
  }
  int last(std::int64_t key, double until) const {
    return last(key, until, [](int) { return true; });
  }

 private:
  struct Entry {
    std::int64_t key;
    double end;
    int index;
    bool operator<(const Entry& other) const {
      return std::tie(key, end, index) < std::tie(other.key, other.end, other.index);
    }
  };
  std::vector<Entry> entries_;
};

/// Relations between the events of a run. Each query takes O(log t).
class Lookups {
 public:
  /// Events closer than this may be recorded in either order [s].
  static constexpr double tolerance = 1e-6;

  explicit Lookups(const Run& all);

  const Run& run;

  /// Whether the tile is copied for this access and kept after it.
  static bool lasts(const Access& access) { return !access.scratch && access.tile != none; }
  bool started(const Task& task) const { return task.worker != none && task.start < run.span; }
  bool on_gpu(const Task& task) const { return started(task) && run.workers[task.worker].kind == Kind::Gpu; }
  /// Limits times to the recorded span.
  double start(const Task& task) const { return std::clamp(task.start, 0.0, run.span); }
  double end(const Task& task) const { return std::clamp(task.end, start(task), run.span); }
  double start(const Transfer& transfer) const { return std::clamp(transfer.start, 0.0, run.span); }
  double end(const Transfer& transfer) const { return std::clamp(transfer.end, start(transfer), run.span); }
  double submitted(const Task& task) const { return std::clamp(task.submitted, 0.0, start(task)); }
  /// When StarPU recorded the task as ready, but not after its start.
  double ready(const Task& task) const { return std::clamp(std::max(task.submitted, task.ready), 0.0, start(task)); }
  /// The first time at which the task has been submitted, all its dependencies have ended, and no other task has
  /// exclusive access to its tiles. StarPU records the task as ready later.
  double unblocked(const Task& task) const;
  /// The task that ended last among the dependencies and the tasks that excluded this one, or `none` if this task had
  /// not been submitted by then.
  int made_ready_by(const Task& task) const;

  /// Tasks of a worker in the order of their starts.
  std::span<const int> tasks_of(int worker) const { return tasks_of_[worker]; }
  /// The purpose of a transfer: the next task on its node that reads the tile, and the index of that access.
  struct Use {
    int task = none, access = none;
  };
  Use use_of(int transfer) const { return uses_[transfer]; }
  /// The last transfer that brought a tile for the task before its start.
  int last_arrival(const Task& task) const;

  /// Whether the transfer copied a task's result to the host.
  bool brings_result(const Transfer& transfer) const {
    return run.nodes[transfer.to].kind == Kind::Host && writers.last(transfer.tile, transfer.end) != none;
  }

  Ended workers;   ///< tasks, by worker
  Ended writers;   ///< tasks, by tile that they wrote
  Ended arrivals;  ///< transfers, by node and tile
  Ended links;     ///< transfers, by link
  Ended results;   ///< transfers of results to the host, all under key 0
  std::int64_t at(int node, int tile) const { return std::int64_t{tile} * std::ssize(run.nodes) + node; }
  std::int64_t link(int from, int to) const { return std::int64_t{from} * std::ssize(run.nodes) + to; }

 private:
  void find_uses();
  /// The last task that had exclusive access to one of the task's tiles before the task was ready. Tasks with accesses
  /// that commute (STARPU_COMMUTE) do not depend on each other, but exclude each other.
  int kept_out_by(const Task& task) const;

  Ended users_;  ///< tasks, by tile
  std::vector<std::vector<int>> tasks_of_;
  std::vector<Use> uses_;
};

}  // namespace tessera::trace
