// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace tessera::memory {

/// The bytes to allocate for a tile of `bytes` bytes: at most 1/32 or 511 bytes more. StarPU keeps freed tiles in one
/// list per allocation size. It never removes a list, and it visits all empty lists for each tile that it frees at
/// shutdown or when a GPU is full. With many sizes, a program would take minutes to exit. Only 32 sizes therefore exist
/// between powers of two.
constexpr std::size_t allocation_size(std::size_t bytes) {
  constexpr std::size_t alignment = 512, sizes = 32;
  const auto step = std::max(alignment, std::bit_floor(bytes) / sizes);
  return (bytes + step - 1) / step * step;
}

}  // namespace tessera::memory
