// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

namespace tessera::scheduler {

/// Decides when a worker that has found no task looks again without having been woken by the policy.
///
/// StarPU's drivers poll: they ask for a task again and again. Each look takes the policy's lock away from workers that
/// have tasks. The policy wakes a worker when there may be a new task for it, but is not told when a tile arrives, or
/// when stealing a task becomes worthwhile. A worker therefore looks again after a quarter of the time it has already
/// waited, so it waits at most a quarter longer than necessary. Beside GPUs, cores pause for longer the more there are:
/// together they look as often as a single one, or a GPU's short tasks would queue behind the looks of many cores. Only
/// the worker's own thread uses this class.
class Polling {
 public:
  static constexpr double with_reserved = 8e-6;  ///< longest pause for a worker with reserved tasks [s]
  static constexpr double without = 100e-6;      ///< the same for one without, if no other worker shares the looks [s]

  bool is_due(double now) const { return now >= next_; }

  /// The worker has found a task.
  void found() { since_ = next_ = 0; }

  /// The worker has found no task that it can start.
  /// @param has_reserved  whether it has reserved tasks, which may only be waiting for tiles
  /// @param sharers       number of workers that share the looks, itself included
  void found_none(double now, bool has_reserved, std::size_t sharers = 1) {
    if (since_ == 0) since_ = now;
    const double longest = has_reserved ? with_reserved : without * static_cast<double>(sharers);
    next_ = now + std::min(0.25 * (now - since_), longest);
  }

 private:
  // Times of StarPU's clock [s].
  double since_ = 0;  ///< when it first found no task; 0: it has found one
  double next_ = 0;
};

}  // namespace tessera::scheduler
