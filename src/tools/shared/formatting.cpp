// SPDX-License-Identifier: BSD-3-Clause
#include "shared/formatting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::tools {

std::string significant(double value, int digits) {
  if (std::isnan(value)) return "-";
  const int before = value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(digits - before, 0, 9));
}

std::string gigabytes(double bytes) { return significant(bytes * 1e-9, 3); }

std::string percent(double fraction) { return std::isnan(fraction) ? "-" : fmt::format("{:.1f} %", 100 * fraction); }

std::string aligned(const std::string& text, int width) {
  return width < 0 ? fmt::format("{:<{}}  ", text, -width) : fmt::format("{:>{}}  ", text, width);
}

std::string trimmed(const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1); }

std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned lead = byte(0), second = byte(1);
  if (text.empty() || lead < 0x80) return text.size() < 1 ? 0 : 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  for (std::size_t i = 1; i < length; i++)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Overlong encodings, surrogates and numbers above the last code point are invalid.
  const bool invalid = lead < 0xc2 || lead > 0xf4 || (lead == 0xe0 && second < 0xa0) ||
                       (lead == 0xed && second > 0x9f) || (lead == 0xf0 && second < 0x90) ||
                       (lead == 0xf4 && second > 0x8f);
  return invalid ? 0 : length;
}

std::string readable(std::string_view name) {
  if (name.empty()) return "unnamed";
  std::string text;
  while (!name.empty()) {
    const auto length = character_length(name);
    const auto byte = static_cast<unsigned char>(name.front());
    if (length > 1 || (length == 1 && byte >= 0x20 && byte != 0x7f)) text += name.substr(0, length);
    else if (byte == '\n') text += "\\n";
    else if (byte == '\t') text += "\\t";
    else text += fmt::format("\\x{:02x}", byte);
    name.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t most = 60;
  if (text.size() <= most) return readable(text);
  auto end = most;
  while (end > most - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) end--;  // keeps characters whole
  return readable(text.substr(0, end)) + "…";
}

}  // namespace tessera::tools
