// SPDX-License-Identifier: BSD-3-Clause
// Kernels of QR factorization.
#include "device_reflectors.hpp"

#include <complex>
#include <cstddef>

#include "device_number.cuh"

namespace tessera::device {

namespace {

constexpr int threads = 256, most_blocks = 1024;

/// A block takes one column at a time.
template <typename N>
__global__ void __launch_bounds__(threads) unit_lower_kernel(int k, const N* A, int lda, N* V, int ldv) {
  for (int j = blockIdx.x; j < k; j += gridDim.x)
    for (int i = threadIdx.x; i < k; i += threads)
      V[i + static_cast<std::ptrdiff_t>(j) * ldv] = i > j    ? A[i + static_cast<std::ptrdiff_t>(j) * lda]
                                                    : i == j ? N{1}
                                                             : N{};
}

template <typename N>
__global__ void __launch_bounds__(threads) scale_rows_kernel(int m, int n, const N* factors, N* C, int ldc) {
  for (int j = blockIdx.x; j < n; j += gridDim.x)
    for (int i = threadIdx.x; i < m; i += threads) {
      N& c = C[i + static_cast<std::ptrdiff_t>(j) * ldc];
      c = product(factors[i], c);
    }
}

int blocks_of_columns(int n) { return n < most_blocks ? n : most_blocks; }

}  // namespace

template <typename T>
cudaError_t unit_lower(cudaStream_t stream, int k, const T* A, int lda, T* V, int ldv) {
  using N = Number<T>;
  if (k > 0)
    unit_lower_kernel<N><<<blocks_of_columns(k), threads, 0, stream>>>(k, reinterpret_cast<const N*>(A), lda,
                                                                       reinterpret_cast<N*>(V), ldv);
  return cudaGetLastError();
}

template <typename T>
cudaError_t scale_rows(cudaStream_t stream, int m, int n, const T* factors, T* C, int ldc) {
  using N = Number<T>;
  if (m > 0 && n > 0)
    scale_rows_kernel<N><<<blocks_of_columns(n), threads, 0, stream>>>(m, n, reinterpret_cast<const N*>(factors),
                                                                       reinterpret_cast<N*>(C), ldc);
  return cudaGetLastError();
}

#define INSTANTIATE(T)                                                           \
  template cudaError_t unit_lower<T>(cudaStream_t, int, const T*, int, T*, int); \
  template cudaError_t scale_rows<T>(cudaStream_t, int, int, const T*, T*, int);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace tessera::device
