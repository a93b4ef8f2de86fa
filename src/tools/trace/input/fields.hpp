// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

/// Parsing lines of text.
namespace tessera::trace {

/// Parses the whole text as a number; empty on failure.
/// @param format  as for std::from_chars, e.g. the base of an integer
template <typename Number>
std::optional<Number> number(std::string_view text, auto... format) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Parses the number of a worker or a memory node; empty on failure. A number beyond StarPU's limits comes from damage,
/// and must not become the size of a list.
inline std::optional<int> place(std::string_view text) {
  constexpr int most = 1 << 12;
  const auto value = number<int>(text);
  return value && *value >= 0 && *value < most ? value : std::nullopt;
}

template <typename Integer>
std::optional<Integer> hexadecimal(std::string_view text) {
  return number<Integer>(text, 16);
}

/// Splits `line` into `words`. A word may be quoted; a quoted word may be empty.
inline void split(std::string_view line, std::vector<std::string_view>& words) {
  constexpr std::string_view space = " \t\r";
  words.clear();
  for (std::size_t at = line.find_first_not_of(space); at != line.npos; at = line.find_first_not_of(space, at)) {
    const bool quoted = line[at] == '"';
    if (quoted) at++;
    const auto end = quoted ? line.find('"', at) : line.find_first_of(space, at);
    words.push_back(line.substr(at, end == line.npos ? line.npos : end - at));
    if (end == line.npos) return;
    at = end + (quoted ? 1 : 0);
  }
}

}  // namespace tessera::trace
