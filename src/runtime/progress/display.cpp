// SPDX-License-Identifier: BSD-3-Clause
#include "display.hpp"

#include <unistd.h>

#include "progress_clock.hpp"

namespace tessera::runtime {

ProgressDisplay::ProgressDisplay() : line_(STDERR_FILENO) {}

ProgressDisplay::~ProgressDisplay() { look(); }

void ProgressDisplay::look() {
  const auto progress = progress_now();
  const auto now = progress_time();
  if (progress.period != period_ || !progress.running) finish();
  if (!progress.running) return;
  if (progress.period != period_) {
    const auto age =
        std::chrono::duration_cast<StatusLine::Clock::duration>(std::chrono::duration<double>(progress.seconds));
    line_.start(now - age);
    period_ = progress.period;
  }
  text_.add(progress);
  if (const auto text = text_.say(); !text.empty()) line_.show("tessera: " + text, now);
}

/// Ends the display of a period. On a terminal, erases the line. Elsewhere, if lines were printed, prints a last one
/// with the totals.
void ProgressDisplay::finish() {
  const auto last = last_long_progress();
  if (!line_.in_place() && line_.shown() && last.period == period_) line_.print("tessera: " + say_end(last));
  line_.start({});
}

}  // namespace tessera::runtime
