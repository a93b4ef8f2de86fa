// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

namespace tessera::scheduler {

/// When a worker that has found no task looks for one again, although the policy has not woken it.
///
/// StarPU's drivers poll: they ask for a task again and again. Each look takes the policy's lock from workers that have
/// tasks. The policy wakes a worker when there may be a new task for it, but nothing reports that a tile has arrived,
/// or that a task has become worth stealing. So a worker looks again after a quarter of the time for which it has
/// waited already, so that it waits at most that much longer than needed. Only the worker's own thread uses this.
class Polling {
 public:
  static constexpr double with_reserved = 8e-6;  ///< how often a worker with reserved tasks looks at least [s]

  bool is_due(double now) const { return now >= next_; }

  /// The worker has found a task.
  void found() { since_ = next_ = 0; }

  /// The worker has found no task that it can start.
  /// @param has_reserved  whether it has reserved tasks, which may only wait for tiles
  void found_none(double now, bool has_reserved) {
    if (since_ == 0) since_ = now;
    next_ = now + std::min(0.25 * (now - since_), has_reserved ? with_reserved : 100e-6);
  }

 private:
  // Times by StarPU's clock [s].
  double since_ = 0;  ///< when it first found no task; 0: it found one
  double next_ = 0;
};

}  // namespace tessera::scheduler
