// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>

#include "runtime/progress/progress_clock.hpp"

namespace tessera::test {

/// Replaces the clock of the progress during the lifetime of this object. It advances only when the test says so.
class SetClock {
 public:
  SetClock() {
    runtime::set_progress_clock([] { return runtime::ProgressClock::time_point(std::chrono::nanoseconds(now_)); });
  }
  ~SetClock() { runtime::set_progress_clock(nullptr); }
  SetClock(const SetClock&) = delete;
  SetClock& operator=(const SetClock&) = delete;

  void advance(std::chrono::nanoseconds by) { now_ += by.count(); }

 private:
  static constexpr std::chrono::nanoseconds start_ = std::chrono::hours(1);
  static inline std::atomic<std::chrono::nanoseconds::rep> now_ = start_.count();
};

}  // namespace tessera::test
