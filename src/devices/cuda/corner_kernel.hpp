// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// Only C++17, because nvcc of CUDA 11 compiles the file that implements this.
namespace tessera::device::staging {

/// The used parts of the corners of a tile, for a copy from a GPU.
struct CornerCopy {
  static constexpr int most = 8;
  struct Corner {
    int i, j, m, n;  ///< rows [i, i + m) and columns [j, j + n) of the tile
  };
  Corner corners[most];
  int count;  ///< number of corners
  /// Whether the lower triangle is used: in column j, the rows from `diagonal` + j down. Otherwise the upper triangle
  /// is used: in column j, rows 0 to `diagonal` + j.
  bool lower;
  int diagonal;                              ///< row in which the diagonal crosses the first column of the tile
  std::size_t element;                       ///< bytes of an element
  const void* source;                        ///< the tile, at its address on the GPU that runs the kernel
  void* target;                              ///< likewise
  std::size_t source_column, target_column;  ///< bytes from one column to the next
};

/// Whether all addresses are multiples of the kernel's word size.
bool has_whole_words(const CornerCopy& copy);

/// Loads the kernels for the current device.
/// @return  an error if there are none for this device; CUDA's error state is cleared
cudaError_t find_corner_kernels();

/// Starts a kernel that writes exactly the used elements.
/// @pre  has_whole_words(copy), and the kernels have been found
cudaError_t copy_corners(cudaStream_t stream, const CornerCopy& copy);

}  // namespace tessera::device::staging
