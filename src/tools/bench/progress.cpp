// SPDX-License-Identifier: BSD-3-Clause
#include "bench/progress.hpp"

#include <unistd.h>

namespace tessera::bench {

Progress::Progress(std::optional<bool> wanted) : line_(STDERR_FILENO) {
  if (!wanted.value_or(line_.in_place())) return;
  line_.start(detail::StatusLine::Clock::now());
  watch_.emplace();
  ticker_.emplace([this] { look(); });
}

Progress::~Progress() {
  ticker_.reset();
  line_.clear();
}

void Progress::show(const std::string& detail, const std::string& more) {
  if (!ticker_) return;
  const std::lock_guard lock(mutex_);
  text_ = detail.empty() ? what_ : what_ + ": " + detail;
  more_ = more;
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  text_.clear();
  line_.clear();
}

void Progress::look() {
  const std::lock_guard lock(mutex_);
  if (text_.empty()) return;
  calls_.add(detail::progress_now());
  const auto call = calls_.say();
  const auto after = [](const char* separator, const std::string& part) {
    return part.empty() ? "" : separator + part;
  };
  auto line = text_ + after(", ", more_) + after("; ", call);
  if (line.size() > line_.width()) line = text_ + after("; ", call);
  line_.show(line, detail::StatusLine::Clock::now());
}

}  // namespace tessera::bench
