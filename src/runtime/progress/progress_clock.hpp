// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace tessera::runtime {

/// The clock that measures periods and times the display.
using ProgressClock = std::chrono::steady_clock;
ProgressClock::time_point progress_time();
/// Replaces the clock, so that tests control the time. Null: restores the steady clock.
void set_progress_clock(ProgressClock::time_point (*clock)());

}  // namespace tessera::runtime
