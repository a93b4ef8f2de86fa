// SPDX-License-Identifier: BSD-3-Clause
#include "bench/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace tessera::bench {

namespace {
constexpr std::chrono::milliseconds quiet_at_first{1500}, between_lines{100};
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1), next_(Clock::now() + quiet_at_first) {}

void Progress::show(const std::string& detail) {
  if (!terminal_ || Clock::now() < next_) return;
  winsize window{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
  auto line = fmt::format("{}: {}", what_, detail);
  line.resize(std::min<std::size_t>(line.size(), known ? window.ws_col - 1U : 79U));  // a line that wraps stays
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  shown_ = true;
  next_ = Clock::now() + between_lines;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace tessera::bench
