// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "common/not_copyable.hpp"
#include "progress.hpp"
#include "status_line.hpp"
#include "text.hpp"
#include "ticker.hpp"

namespace tessera::runtime {

/// Shows the progress of long calls on standard error.
class ProgressDisplay : common::NotCopyable {
 public:
  ProgressDisplay();
  /// Updates the display a last time.
  ~ProgressDisplay();

  /// Shows the current progress. Only one thread at a time may call this.
  void look();

 private:
  void finish();

  ProgressWatch watch_;
  StatusLine line_;
  ProgressText text_;
  std::uint64_t period_ = 0;
};

/// Shows the progress from its own thread during the lifetime of this object.
class ShownProgress {
  ProgressDisplay display_;
  Ticker ticker_{[this] { display_.look(); }};
};

}  // namespace tessera::runtime
