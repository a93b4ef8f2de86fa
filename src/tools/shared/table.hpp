// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shared/text.hpp"

namespace tessera::tools {

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
