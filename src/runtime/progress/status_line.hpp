// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tessera::runtime {

/// Shows a status. On a terminal, one line is overwritten in place; elsewhere, a new line is printed every five
/// seconds.
class StatusLine {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param descriptor  an open file descriptor, still owned by the caller
  explicit StatusLine(int descriptor);

  /// Whether the descriptor is a terminal on which a line can be overwritten.
  bool in_place() const noexcept { return in_place_; }
  /// Characters that fit on a line.
  std::size_t width() const;

  /// Turns to a new activity, which began at `begin`, and clears the line. In the activity's first second on a
  /// terminal, or its first five seconds elsewhere, `show` prints nothing.
  void start(Clock::time_point begin);
  /// Shows one line of ASCII, cut to `width()` characters, unless it is too early for a line.
  void show(const std::string& text, Clock::time_point now);
  /// Whether `show` has written a line since `start`.
  bool shown() const noexcept { return shown_; }
  /// Erases the line from the terminal, so that other output can be printed there.
  void clear();
  /// Erases the line and prints one that stays.
  void print(const std::string& text);

 private:
  void write(const std::string& bytes) const;

  int descriptor_;
  bool in_place_, shown_ = false;
  std::string on_screen_;
  Clock::time_point next_{};
};

}  // namespace tessera::runtime
