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
/// that it has already waited, which lengthens its wait by at most a quarter. In sessions with GPUs, the pause of a
/// core grows with the number of cores, so that together they ask no more often than one core; otherwise they would
/// keep the lock from GPUs that run short tasks. Only the worker's own thread uses this class.
class Polling {
 public:
  static constexpr double with_reserved = 8e-6;  ///< longest pause for a worker with reserved tasks [s]
  static constexpr double without = 100e-6;      ///< longest pause for one without, if it is the only sharer [s]

  bool is_due(double now) const { return now >= next_; }

  /// Call this when the worker has found a task.
  void found() { since_ = next_ = 0; }

  /// Call this when the worker has found no task that it can start.
  /// @param has_reserved  whether it has reserved tasks, which may only be waiting for tiles
  /// @param sharers       number of workers, including this one, that together may ask as often as one
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
