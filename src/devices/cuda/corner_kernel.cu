// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include "corner_kernel.hpp"

namespace tessera::device::staging {

namespace {

constexpr int threads = 256;

__device__ int clamp(int x, int least, int most) { return x < least ? least : x > most ? most : x; }

/// Each block copies a column of a corner, word by word, and neighbouring threads write neighbouring words. The rows
/// are those of `used_rows` in partial_tile.hpp.
template <typename Word>
__global__ void __launch_bounds__(threads) copy_corners_kernel(CornerCopy copy) {
  const auto corner = copy.corners[blockIdx.y];
  const int column = static_cast<int>(blockIdx.x);
  if (column >= corner.n) return;
  const int j = corner.j + column, end_row = corner.i + corner.m, diagonal = copy.diagonal + j;
  const int begin = copy.lower ? clamp(diagonal, corner.i, end_row) : corner.i;
  const int end = copy.lower ? end_row : clamp(diagonal + 1, corner.i, end_row);
  const auto* const from = reinterpret_cast<const Word*>(static_cast<const char*>(copy.source) +
                                                         j * copy.source_column + begin * copy.element);
  auto* const to =
      reinterpret_cast<Word*>(static_cast<char*>(copy.target) + j * copy.target_column + begin * copy.element);
  const auto words = (end - begin) * static_cast<int>(copy.element / sizeof(Word));
  for (int i = static_cast<int>(threadIdx.x); i < words; i += threads) to[i] = from[i];
}

template <typename Word>
bool is_whole_in(const CornerCopy& copy) {
  const auto all = reinterpret_cast<std::uintptr_t>(copy.source) | reinterpret_cast<std::uintptr_t>(copy.target) |
                   copy.source_column | copy.target_column | copy.element;
  return all % sizeof(Word) == 0;
}

}  // namespace

bool has_whole_words(const CornerCopy& copy) { return is_whole_in<std::uint32_t>(copy); }

cudaError_t find_corner_kernels() {
  cudaFuncAttributes found{};
  auto status = cudaFuncGetAttributes(&found, copy_corners_kernel<std::uint64_t>);
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&found, copy_corners_kernel<std::uint32_t>);
  if (status != cudaSuccess) cudaGetLastError();
  return status;
}

cudaError_t copy_corners(cudaStream_t stream, const CornerCopy& copy) {
  int columns = 0;
  for (int i = 0; i < copy.count; i++)
    if (columns < copy.corners[i].n) columns = copy.corners[i].n;
  if (columns == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(copy.count));
  auto argument = copy;
  void* arguments[] = {&argument};
  return is_whole_in<std::uint64_t>(copy)
             ? cudaLaunchKernel(copy_corners_kernel<std::uint64_t>, grid, dim3(threads), arguments, 0, stream)
             : cudaLaunchKernel(copy_corners_kernel<std::uint32_t>, grid, dim3(threads), arguments, 0, stream);
}

}  // namespace tessera::device::staging
