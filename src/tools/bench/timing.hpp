// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/not_copyable.hpp"
#include "runtime/progress/progress.hpp"
#include "runtime/progress/status_line.hpp"
#include "runtime/progress/text.hpp"
#include "runtime/progress/ticker.hpp"
#include "workload/result.hpp"

namespace tessera::bench {

/// The status line of this program: the current measurement and, during long calls of Tessera, their progress.
class Progress : common::NotCopyable {
 public:
  /// @param wanted  empty: only on a terminal
  explicit Progress(std::optional<bool> wanted);
  ~Progress();

  /// Names the measurement that starts now.
  void begin(std::string what) { what_ = std::move(what); }
  /// Shows the line with `detail` until the next call of this function or of `clear`.
  /// @param more  omitted if the line is too narrow
  void show(const std::string& detail, const std::string& more = "");
  /// Removes the line, so that other text can be printed there.
  void clear();

 private:
  void look();

  std::string what_;
  std::mutex mutex_;  ///< guards the members below, except the last two
  runtime::StatusLine line_;
  runtime::ProgressText calls_;
  std::string text_, more_;  ///< "": no line is shown
  std::optional<runtime::ProgressWatch> watch_;
  std::optional<runtime::Ticker> ticker_;
};

/// Numbers of calls.
struct Repetitions {
  int warmup = 1;  ///< unmeasured calls after the first one
  int repeat = 5;
};

struct TimedCall {
  std::function<void()> run;
  std::function<void()> prepare;  ///< called before each call, not timed; may be empty
  std::function<void()> counted;  ///< called after each measured call; may be empty
};

/// Times one call.
double seconds_of(const TimedCall& call);

/// @pre values is not empty
double median(std::vector<double> values);

Timing measure(const TimedCall& call, const Repetitions& repetitions, Progress& progress);

}  // namespace tessera::bench
