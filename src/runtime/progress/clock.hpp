// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace tessera::detail {

/// The clock that measures periods, and by which they are shown.
using ProgressClock = std::chrono::steady_clock;
ProgressClock::time_point progress_time();
/// Replaces that clock, so that a test can let time pass. Null: the steady clock again.
void set_progress_clock(ProgressClock::time_point (*clock)());

}  // namespace tessera::detail
