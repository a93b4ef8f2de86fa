// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>

namespace tessera::bench {

/// One status line on standard error that is written over and over; nothing where that is not a terminal.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What is being measured from now on.
  void begin(std::string what) { what_ = std::move(what); }
  /// Shows it with `detail`, unless the program is young or the line was written a moment ago.
  void show(const std::string& detail);
  /// Removes the line, so that something else can be printed there.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, shown_ = false;
  std::string what_;
  Clock::time_point next_;
};

}  // namespace tessera::bench
