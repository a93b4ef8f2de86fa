// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "devices/partial_tile.hpp"

/// Columns in memory, also those that are further apart than CUDA's 2D functions allow.
namespace tessera::device::cuda {

/// Calls `each` for one column after another, until it fails.
template <typename Each>
cudaError_t for_each_column(std::size_t columns, Each each) {
  auto status = cudaSuccess;
  for (std::size_t j = 0; j < columns && status == cudaSuccess; j++) status = each(j);
  return status;
}

/// Starts a copy of columns of `height` bytes. The distances between columns are in bytes, too.
inline cudaError_t copy_columns(void* to, std::size_t to_apart, const void* from, std::size_t from_apart,
                                std::size_t height, std::size_t columns, cudaMemcpyKind kind, cudaStream_t stream) {
  if (height == to_apart && height == from_apart) return cudaMemcpyAsync(to, from, height * columns, kind, stream);
  if (std::max(to_apart, from_apart) <= most_apart)
    return cudaMemcpy2DAsync(to, to_apart, from, from_apart, height, columns, kind, stream);
  return for_each_column(columns, [&](std::size_t j) {
    return cudaMemcpyAsync(static_cast<std::byte*>(to) + j * to_apart,
                           static_cast<const std::byte*>(from) + j * from_apart, height, kind, stream);
  });
}

/// Starts to set columns of `height` bytes in device memory to zero.
inline cudaError_t clear_columns(void* data, std::size_t apart, std::size_t height, std::size_t columns,
                                 cudaStream_t stream) {
  if (apart <= most_apart) return cudaMemset2DAsync(data, apart, 0, height, columns, stream);
  return for_each_column(columns, [&](std::size_t j) {
    return cudaMemsetAsync(static_cast<std::byte*>(data) + j * apart, 0, height, stream);
  });
}

}  // namespace tessera::device::cuda
