// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// How the programs write their tables.
namespace tessera::tools {

/// Bytes, seconds and so on to `digits` digits without an exponent.
std::string significant(double value, int digits);

/// "12.3 %"
std::string percent(double fraction);

/// A cell with the space behind it.
/// @param width  negative: to the left
std::string aligned(const std::string& text, int width);

/// Without the spaces at the end.
std::string trimmed(const std::string& line);

}  // namespace tessera::tools
