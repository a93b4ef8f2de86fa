// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// Formatting of the programs' tables.
namespace tessera::tools {

/// `digits` significant digits without an exponent.
std::string significant(double value, int digits);

/// Bytes in units of 10⁹, to three digits.
std::string gigabytes(double bytes);

/// "12.3 %"
std::string percent(double fraction);

/// A table cell followed by the space between columns.
/// @param width  negative: aligned to the left
std::string aligned(const std::string& text, int width);

/// `line` without its trailing spaces.
std::string trimmed(const std::string& line);

}  // namespace tessera::tools
