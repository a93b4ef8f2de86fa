// SPDX-License-Identifier: BSD-3-Clause
#include "status_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace tessera::runtime {

namespace {

using namespace std::chrono_literals;

constexpr auto quiet_on_terminal = 1s, between_full_lines = 5s;
constexpr std::size_t usual_width = 80;
constexpr std::string_view erase = "\r\033[K";

bool can_erase(int descriptor) {
  const char* terminal = std::getenv("TERM");
  return isatty(descriptor) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

StatusLine::StatusLine(int descriptor) : descriptor_(descriptor), in_place_(can_erase(descriptor)) {}

std::size_t StatusLine::width() const {
  if (!in_place_) return std::numeric_limits<std::size_t>::max();
  winsize window{};
  const bool known = ioctl(descriptor_, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
  return (known ? window.ws_col : usual_width) - 1;  // a wrapped line cannot be overwritten
}

void StatusLine::start(Clock::time_point begin) {
  clear();
  shown_ = false;
  next_ = begin + (in_place_ ? quiet_on_terminal : between_full_lines);
}

void StatusLine::show(const std::string& text, Clock::time_point now) {
  if (now < next_) return;
  shown_ = true;
  if (!in_place_) {
    next_ = now + between_full_lines;
    return write(text + "\n");
  }
  const auto line = text.substr(0, width());
  if (line != on_screen_) write(std::string(erase) + line);
  on_screen_ = line;
}

void StatusLine::clear() {
  if (!on_screen_.empty()) write(std::string(erase));
  on_screen_.clear();
}

void StatusLine::print(const std::string& text) {
  clear();
  write(text + "\n");
}

/// Uses one write() where possible, so that lines of several threads do not mix. Ignores errors: progress is optional.
void StatusLine::write(const std::string& bytes) const {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const auto written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace tessera::runtime
