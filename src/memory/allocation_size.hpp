// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace tessera::detail {

/// The bytes to allocate for a tile of `bytes` bytes, at most 1/32 or 511 bytes more. StarPU keeps freed tiles in a
/// list for each allocation size. It never removes a list, and visits all empty ones for each tile that it frees at
/// shutdown or when a GPU is full. With many sizes, a program would take minutes to exit. Therefore only 32 sizes exist
/// between powers of two.
constexpr std::size_t allocation_size(std::size_t bytes) {
  constexpr std::size_t alignment = 512, sizes = 32;
  const auto step = std::max(alignment, std::bit_floor(bytes) / sizes);
  return (bytes + step - 1) / step * step;
}

}  // namespace tessera::detail
