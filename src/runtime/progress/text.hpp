// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "progress.hpp"

namespace tessera::runtime {

/// Text about the running calls, computed from periodic observations of their progress.
class ProgressText {
 public:
  /// Adds an observation. The first one of a new period discards the earlier ones.
  void add(const Progress& now);

  /// Rate over about the last half second [FLOP/s]; empty: no task has ended yet.
  std::optional<double> rate() const;
  /// Seconds until all submitted tasks are done; empty: a call is still submitting, or the rate is unknown.
  std::optional<double> seconds_left() const;

  /// "43 %, 12 s left, 45.3 TFLOP/s, 1234 of 2869 tasks, in 12.3 GB, out 4.10 GB";
  /// "" if no calls are running, or for less than `long_period`
  std::string say() const;

 private:
  /// Rate of the most recently finished tasks, over at least `seconds` [FLOP/s].
  std::optional<double> rate_over(double seconds) const;

  Progress now_;
  /// Observations: the start of the period, and each later observation with more finished tasks than the previous one.
  /// Others are dropped, because with them the rate would fall while a long task runs.
  std::deque<Progress> steps_;
};

/// Text for a period that has ended: "100 %, 2869 tasks in 12.3 s, 45.3 TFLOP/s".
std::string say_end(const Progress& last);

/// "12 s", "3 min 20 s", "2 h 5 min"
std::string say_duration(double seconds);

}  // namespace tessera::runtime
