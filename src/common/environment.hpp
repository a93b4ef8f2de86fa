// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace tessera::common {

/// The value of an environment variable; empty if it is not set.
inline std::string_view environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// Parses the whole text as a number; empty on failure, including overflow.
template <typename Number>
std::optional<Number> as_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace tessera::common
