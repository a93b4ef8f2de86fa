// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "progress/progress.hpp"

namespace tessera::detail {

/// What to say of the calls that run, from looking at them every now and then.
class ProgressText {
 public:
  /// One of another period starts anew.
  void add(const Progress& now);

  /// flop/s of about the last half second; nothing: no task has ended yet.
  std::optional<double> rate() const;
  /// Until all that has been submitted is done; nothing: more is being submitted, or it cannot be known.
  std::optional<double> seconds_left() const;

  /// "43 %, 12 s left, 45.3 TFLOP/s, 1234 of 2869 tasks, in 12.3 GB, out 4.10 GB"
  /// "" where nothing runs, or only since a moment ago
  std::string say() const;

 private:
  /// Of the tasks that ended last, over at least that many seconds.
  std::optional<double> rate_over(double seconds) const;

  Progress now_;
  /// When the period began, and whenever tasks had ended: the time in which long ones run must not count for those that
  /// are done, or the rate would fall until the next one ends.
  std::deque<Progress> steps_;
};

/// What to say when a period is over: "100 %, 2869 tasks in 12.3 s, 45.3 TFLOP/s".
std::string say_end(const Progress& last);

/// "12 s", "3 min 20 s", "2 h 5 min"
std::string say_duration(double seconds);

}  // namespace tessera::detail
