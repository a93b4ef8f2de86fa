// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

namespace tessera::scheduler {

/// Decides when a worker that has found no task asks again without having been woken by the policy.
///
/// StarPU's drivers poll: they ask for a task again and again, and each request takes the policy's lock away from
/// workers that have tasks. The policy wakes a worker when there may be a new task for it. But it is not told when a
/// tile arrives, or when stealing a task becomes worthwhile. A worker therefore asks again after a quarter of the time
/// that it has already waited, which lengthens its wait by at most a quarter. Cores beside GPUs ask at fixed intervals:
/// a core that would take a task is woken when it becomes ready, and each request of a core that would not keeps the
/// lock from GPUs that run short tasks. Only the worker's own thread uses this class.
class Polling {
 public:
  static constexpr double with_reserved = 8e-6;  ///< longest pause for a worker with reserved tasks [s]
  static constexpr double without = 100e-6;      ///< longest pause for one without [s]
  static constexpr double beside_gpus = 1e-3;    ///< pause for each core beside GPUs, times the number of cores [s]

  bool is_due(double now) const { return now >= next_; }

  /// Call this when the worker has found a task.
  void found() { since_ = next_ = 0; }

  /// Call this when the worker has found no task that it can start.
  /// @param has_reserved       whether it has reserved tasks, which may only be waiting for tiles
  /// @param cores_beside_gpus  for a core on a machine with GPUs, the number of such cores; otherwise 0
  void found_none(double now, bool has_reserved, std::size_t cores_beside_gpus = 0) {
    if (since_ == 0) since_ = now;
    const double quarter = std::min(0.25 * (now - since_), has_reserved ? with_reserved : without);
    next_ =
        now + (has_reserved || cores_beside_gpus == 0 ? quarter : beside_gpus * static_cast<double>(cores_beside_gpus));
  }

 private:
  // Times of StarPU's clock [s].
  double since_ = 0;  ///< when it first found no task; 0: it has found one
  double next_ = 0;
};

}  // namespace tessera::scheduler
