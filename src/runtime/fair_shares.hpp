// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>

#include "common/not_copyable.hpp"

/// Task priorities by which concurrent calls share the devices, by start-time fair queueing.
namespace tessera::runtime {

/// The virtual time of all running calls. Each task advances the time of its call in proportion to the task's
/// arithmetic, and earlier tasks are more urgent. A new call starts at the time that the running calls have reached, so
/// it neither jumps ahead nor starves. If nothing else runs, it starts at 0. Thread-safe.
class FairShares {
 public:
  /// One call.
  class Share : common::NotCopyable {
   public:
    explicit Share(FairShares& all) : all_(all), next_(all.begin()) {}
    ~Share() { all_.end(); }

    /// The priority of the call's next task. Priorities decrease from task to task.
    int next(double flops) noexcept {
      const int priority = priority_at(next_);
      next_ += std::max<std::int64_t>(1, static_cast<std::int64_t>(flops / flops_of_unit));
      return priority;
    }
    /// The priority that `next` will return.
    int now() const noexcept { return priority_at(next_); }
    /// @param priority  the priority of a task of this call that has run
    void has_run(int priority) noexcept { all_.reach(-std::int64_t{priority}); }

   private:
    FairShares& all_;
    std::int64_t next_;
  };

  /// The priority that the first task of a new call would get.
  int first() noexcept {
    const std::lock_guard lock(mutex_);
    return priority_at(reached_);
  }

  /// The part of a memory that a call may fill before its tasks run: half if it is alone, and half as much for each
  /// other call, so that all parts together fit.
  /// @pre  the call has a Share
  double part_of_memory() noexcept {
    const std::lock_guard lock(mutex_);
    return std::ldexp(1, -static_cast<int>(calls_));
  }

 private:
  /// The unit of virtual time [flops]. A task advances the time by at least one unit. With this size, the priorities
  /// suffice for hours of several busy GPUs.
  static constexpr double flops_of_unit = 1e9;
  static constexpr std::int64_t last = std::numeric_limits<int>::max();

  static int priority_at(std::int64_t time) noexcept { return static_cast<int>(-std::min(time, last)); }

  std::int64_t begin() noexcept {
    const std::lock_guard lock(mutex_);
    // The time restarts when nothing else runs. It also restarts before it overflows, which makes the new call more
    // urgent than all others.
    if (calls_++ == 0 || reached_ > last / 2) reached_ = 0;
    return reached_;
  }
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    if (--calls_ == 0) reached_ = 0;
  }
  void reach(std::int64_t time) noexcept {
    const std::lock_guard lock(mutex_);
    reached_ = std::max(reached_, time);
  }

  std::mutex mutex_;
  std::int64_t calls_ = 0, reached_ = 0;  // guarded by mutex_
};

}  // namespace tessera::runtime
