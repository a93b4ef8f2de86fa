// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::detail {

/// Columns of a tile in the memory of a process.
struct Columns {
  std::uintptr_t address;
  std::size_t bytes;     ///< of a column
  std::size_t distance;  ///< from one column to the next [bytes]
  std::size_t count;

  Columns part(std::size_t first, std::size_t columns) const {
    return {address + first * distance, bytes, distance, columns};
  }
  bool has_shape_of(const Columns& other) const { return bytes == other.bytes && count == other.count; }
  std::size_t total() const { return bytes * count; }
};

}  // namespace tessera::detail
