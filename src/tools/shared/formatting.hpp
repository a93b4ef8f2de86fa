// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

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
/// C. An empty name becomes "unnamed".
std::string readable(std::string_view name);

/// The beginning of an external text, for messages.
std::string excerpt(std::string_view text);

/// The words of `text` in lines of at most `width` characters.
inline std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  std::string result, line, word;
  while (words >> word) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line;
}

/// A column of a table whose rows are of type `Row`.
template <typename Row>
struct Column {
  std::string head;
  int width;  ///< negative: left-aligned text
  std::function<std::string(const Row&)> cell;
};

template <typename Row>
std::string table_head(const std::vector<Column<Row>>& columns) {
  std::string line;
  for (const auto& column : columns) line += aligned(column.head, column.width);
  return trimmed(line);
}

template <typename Row>
std::string table_line(const std::vector<Column<Row>>& columns, const Row& row) {
  std::string line;
  for (const auto& column : columns) line += aligned(column.cell(row), column.width);
  return trimmed(line);
}

}  // namespace tessera::tools
