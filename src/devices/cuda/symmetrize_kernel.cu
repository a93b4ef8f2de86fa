// SPDX-License-Identifier: BSD-3-Clause
#include "symmetrize_kernel.hpp"

#include <cstddef>

#include "arithmetic.cuh"

namespace tessera::device::cuda {

namespace {

constexpr int square = 32, rows_at_a_time = 8;

template <typename R>
__device__ R conjugated(R x) {
  return x;
}
template <typename R>
__device__ Complex<R> conjugated(Complex<R> x) {
  return {x.re, -x.im};
}
template <typename R>
__device__ R without_imaginary(R x) {
  return x;
}
template <typename R>
__device__ Complex<R> without_imaginary(Complex<R> x) {
  return {x.re, 0};
}

/// Each thread block reads a square of the stored triangle, and writes it and its transpose, so that memory is read and
/// written in columns.
template <typename N>
__global__ void symmetrize_kernel(bool lower, bool hermitian, int n, const N* A, int lda, N* D, int ldd) {
  const int row = square * (lower ? max(blockIdx.x, blockIdx.y) : min(blockIdx.x, blockIdx.y)),
            column = square * (lower ? min(blockIdx.x, blockIdx.y) : max(blockIdx.x, blockIdx.y));
  if (lower ? blockIdx.x < blockIdx.y : blockIdx.x > blockIdx.y) return;  // the block of the other square writes both
  __shared__ __align__(16) unsigned char memory[square * (square + 1) * sizeof(N)];
  const auto a = reinterpret_cast<N(*)[square + 1]>(memory);  // by column; one more row avoids conflicts of banks
  const int i = threadIdx.x;
  for (int j = threadIdx.y; j < square; j += rows_at_a_time)
    if (row + i < n && column + j < n) a[j][i] = A[row + i + static_cast<std::ptrdiff_t>(column + j) * lda];
  __syncthreads();
  const auto mirrored = [&](N x) { return hermitian ? conjugated(x) : x; };
  for (int j = threadIdx.y; j < square; j += rows_at_a_time) {
    if (row != column) {
      if (row + i < n && column + j < n) D[row + i + static_cast<std::ptrdiff_t>(column + j) * ldd] = a[j][i];
      if (column + i < n && row + j < n) D[column + i + static_cast<std::ptrdiff_t>(row + j) * ldd] = mirrored(a[i][j]);
    } else if (row + i < n && row + j < n) {
      const bool stored = lower ? i >= j : i <= j;
      const N x = stored ? a[j][i] : mirrored(a[i][j]);
      D[row + i + static_cast<std::ptrdiff_t>(row + j) * ldd] = i == j && hermitian ? without_imaginary(x) : x;
    }
  }
}

}  // namespace

template <typename T>
cudaError_t symmetrize(cudaStream_t stream, bool lower, bool hermitian, int n, const T* A, int lda, T* D, int ldd) {
  using N = Number<T>;
  const auto squares = static_cast<unsigned>(blocks_for(n, square));
  symmetrize_kernel<N><<<dim3(squares, squares), dim3(square, rows_at_a_time), 0, stream>>>(
      lower, hermitian, n, reinterpret_cast<const N*>(A), lda, reinterpret_cast<N*>(D), ldd);
  return cudaGetLastError();
}

#define INSTANTIATE(T) template cudaError_t symmetrize<T>(cudaStream_t, bool, bool, int, const T*, int, T*, int);
FOR_EACH_TYPE(INSTANTIATE)

}  // namespace tessera::device::cuda
