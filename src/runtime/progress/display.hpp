// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "progress.hpp"
#include "status_line.hpp"
#include "text.hpp"
#include "ticker.hpp"

namespace tessera::detail {

/// Shows the progress of long calls on standard error while it exists.
class ProgressDisplay {
 public:
  ProgressDisplay();
  /// Shows the final state first.
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

 private:
  void look();
  void finish();

  ProgressWatch watch_;
  StatusLine line_;
  ProgressText text_;
  std::uint64_t period_ = 0;
  std::optional<Ticker> ticker_;
};

}  // namespace tessera::detail
