// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tessera::detail {

/// A line that is written over and over on a terminal; on anything else, a full line every five seconds.
class StatusLine {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param descriptor  of an open file
  explicit StatusLine(int descriptor);

  /// Whether this is a terminal on which a line can be written over.
  bool in_place() const noexcept { return in_place_; }
  /// Characters that a line may have.
  std::size_t width() const;

  /// What is to be shown began then: nothing is, until it has taken a while.
  void start(Clock::time_point begin);
  /// One line of ASCII; what does not fit is cut off.
  void show(const std::string& text, Clock::time_point now);
  /// Whether a line has been shown since the start.
  bool shown() const noexcept { return shown_; }
  /// Removes the line from the terminal, so that something else can be printed there.
  void clear();
  /// A line that stays.
  void print(const std::string& text);

 private:
  void write(const std::string& bytes) const;

  int descriptor_;
  bool in_place_, shown_ = false;
  std::string on_screen_;
  Clock::time_point next_{};
};

}  // namespace tessera::detail
