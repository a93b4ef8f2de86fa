// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Formatting of tables, and of text that comes from outside.
namespace tessera::tools {

/// `digits` significant digits without an exponent. "-" for what is not a number, such as the rate of an empty call.
std::string significant(double value, int digits);

/// Bytes in units of 10⁹, to three digits.
std::string gigabytes(double bytes);

/// "12.3 %", or "-" for what is not a number
std::string percent(double fraction);

/// A table cell followed by the space between columns.
/// @param width  negative: aligned to the left
std::string aligned(const std::string& text, int width);

/// `line` without its trailing spaces.
std::string trimmed(const std::string& line);

/// The bytes of the UTF-8 character at the start of `text`; 0 if there is none.
std::size_t character_length(std::string_view text);

/// An external name as text for files and terminals. Control characters and bytes that are not UTF-8 are escaped as in
/// C, so different names stay different. An empty name becomes "unnamed".
std::string readable(std::string_view name);

/// The beginning of an external text, for messages.
std::string excerpt(std::string_view text);

}  // namespace tessera::tools
