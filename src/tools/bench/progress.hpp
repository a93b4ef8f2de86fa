// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "progress/progress.hpp"
#include "progress/status_line.hpp"
#include "progress/text.hpp"
#include "progress/ticker.hpp"

namespace tessera::bench {

/// The status line of this program: what is being measured and, if a call of ours takes long, how far it has come.
class Progress {
 public:
  /// @param wanted  nothing: on a terminal only
  explicit Progress(std::optional<bool> wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What is being measured from now on.
  void begin(std::string what) { what_ = std::move(what); }
  /// Shows it with `detail` until the next call of this or of `clear`.
  /// @param more  left out where there is no room for it
  void show(const std::string& detail, const std::string& more = "");
  /// Removes the line, so that something else can be printed there.
  void clear();

 private:
  void look();

  std::string what_;
  std::mutex mutex_;  ///< of what follows, but for the last two
  detail::StatusLine line_;
  detail::ProgressText calls_;
  std::string text_, more_;  ///< "": nothing is to be shown
  std::optional<detail::ProgressWatch> watch_;
  std::optional<detail::Ticker> ticker_;
};

}  // namespace tessera::bench
