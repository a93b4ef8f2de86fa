// SPDX-License-Identifier: BSD-3-Clause
#include "shared/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::tools {

std::string significant(double value, int digits) {
  const int before = value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(digits - before, 0, 9));
}

std::string gigabytes(double bytes) { return significant(bytes * 1e-9, 3); }

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

std::string aligned(const std::string& text, int width) {
  return width < 0 ? fmt::format("{:<{}}  ", text, -width) : fmt::format("{:>{}}  ", text, width);
}

std::string trimmed(const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1); }

}  // namespace tessera::tools
