// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "progress/progress.hpp"
#include "progress/status_line.hpp"
#include "progress/text.hpp"
#include "progress/ticker.hpp"

namespace tessera::detail {

/// Says on standard error how far long calls have come, for as long as it lives.
class ProgressDisplay {
 public:
  ProgressDisplay();
  /// What is left to say is said.
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
