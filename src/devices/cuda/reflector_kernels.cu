// SPDX-License-Identifier: BSD-3-Clause
// Kernels of QR factorization.
#include "reflector_kernels.hpp"

#include <cstddef>

#include "arithmetic.cuh"

namespace tessera::device::cuda {

namespace {

constexpr int threads = column_threads;

/// Each thread block computes one column at a time.
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

template <typename R>
__device__ double square_of(R x, double shift) {
  const double distance = static_cast<double>(x) - shift;
  return distance * distance;
}
template <typename R>
__device__ double square_of(Complex<R> x, double shift) {
  return square_of(x.re, shift) + square_of(x.im, 0);
}

/// Each thread block sums some columns, and writes one of the `parts`.
template <typename N>
__global__ void __launch_bounds__(threads)
    sum_squares_kernel(int n, const N* C, int ldc, const N* weights, double shift, double* parts) {
  __shared__ double sums[threads];
  double mine = 0;
  for (int j = blockIdx.x; j < n; j += gridDim.x)
    for (int i = threadIdx.x; i <= j; i += threads)
      mine += (weights == nullptr ? 1.0 : static_cast<double>(real_part(weights[i]))) *
              square_of(C[i + static_cast<std::ptrdiff_t>(j) * ldc], i == j ? shift : 0);
  sums[threadIdx.x] = mine;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = sums[0];
}

/// Runs as one thread block, with a thread for each element.
template <typename N>
__global__ void leaf_with_signs_kernel(int n, N* A, int lda, N* signs) {
  __shared__ __align__(16) unsigned char memory[leaf_with_signs * (leaf_with_signs + 1) * sizeof(N)];
  const auto a = reinterpret_cast<N(*)[leaf_with_signs + 1]>(memory);
  const int i = threadIdx.x, j = threadIdx.y;
  const bool inside = i < n && j < n;
  N& global = A[inside ? i + static_cast<std::ptrdiff_t>(j) * lda : 0];
  if (inside) a[i][j] = global;
  for (int k = 0; k < n; k++) {
    __syncthreads();
    if (i == k && j == k) {
      signs[k] = real_part(a[k][k]) < 0 ? N{1} : N{-1};
      a[k][k] = minus_product(a[k][k], signs[k], N{1});
    }
    __syncthreads();
    if (inside && i > k && j == k) a[i][k] = product(a[i][k], inverse(a[k][k]));
    __syncthreads();
    if (inside && i > k && j > k) a[i][j] = minus_product(a[i][j], a[i][k], a[k][j]);
  }
  __syncthreads();
  if (inside) global = a[i][j];
}

template <typename N>
__global__ void __launch_bounds__(threads)
    copy_upper_kernel(int n, const N* A, int lda, const N* signs, N* C, int ldc) {
  for (int j = blockIdx.x; j < n; j += gridDim.x)
    for (int i = threadIdx.x; i < n; i += threads) {
      N c{};
      if (i <= j) c = A[i + static_cast<std::ptrdiff_t>(j) * lda];
      C[i + static_cast<std::ptrdiff_t>(j) * ldc] = i <= j && signs != nullptr ? minus_product(N{}, signs[j], c) : c;
    }
}

template <typename N>
__global__ void __launch_bounds__(threads) set_upper_kernel(int n, const N* signs, const N* R, int ldr, N* A, int lda) {
  for (int j = blockIdx.x; j < n; j += gridDim.x)
    for (int i = threadIdx.x; i <= j; i += threads)
      A[i + static_cast<std::ptrdiff_t>(j) * lda] = product(signs[i], R[i + static_cast<std::ptrdiff_t>(j) * ldr]);
}

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

template <typename T>
cudaError_t sum_squares(cudaStream_t stream, int n, const T* C, int ldc, const T* weights, double shift,
                        double* parts) {
  using N = Number<T>;
  sum_squares_kernel<N><<<parts_of_squares, threads, 0, stream>>>(n, reinterpret_cast<const N*>(C), ldc,
                                                                  reinterpret_cast<const N*>(weights), shift, parts);
  return cudaGetLastError();
}

template <typename T>
cudaError_t factorize_leaf_with_signs(cudaStream_t stream, int n, T* A, int lda, T* signs) {
  using N = Number<T>;
  leaf_with_signs_kernel<N><<<1, dim3(leaf_with_signs, leaf_with_signs), 0, stream>>>(n, reinterpret_cast<N*>(A), lda,
                                                                                      reinterpret_cast<N*>(signs));
  return cudaGetLastError();
}

template <typename T>
cudaError_t copy_upper(cudaStream_t stream, int n, const T* A, int lda, const T* signs, T* C, int ldc) {
  using N = Number<T>;
  copy_upper_kernel<N><<<blocks_of_columns(n), threads, 0, stream>>>(
      n, reinterpret_cast<const N*>(A), lda, reinterpret_cast<const N*>(signs), reinterpret_cast<N*>(C), ldc);
  return cudaGetLastError();
}

template <typename T>
cudaError_t set_upper(cudaStream_t stream, int n, const T* signs, const T* R, int ldr, T* A, int lda) {
  using N = Number<T>;
  set_upper_kernel<N><<<blocks_of_columns(n), threads, 0, stream>>>(
      n, reinterpret_cast<const N*>(signs), reinterpret_cast<const N*>(R), ldr, reinterpret_cast<N*>(A), lda);
  return cudaGetLastError();
}

#define INSTANTIATE(T)                                                                              \
  template cudaError_t unit_lower<T>(cudaStream_t, int, const T*, int, T*, int);                    \
  template cudaError_t scale_rows<T>(cudaStream_t, int, int, const T*, T*, int);                    \
  template cudaError_t sum_squares<T>(cudaStream_t, int, const T*, int, const T*, double, double*); \
  template cudaError_t factorize_leaf_with_signs<T>(cudaStream_t, int, T*, int, T*);                \
  template cudaError_t copy_upper<T>(cudaStream_t, int, const T*, int, const T*, T*, int);          \
  template cudaError_t set_upper<T>(cudaStream_t, int, const T*, const T*, int, T*, int);
FOR_EACH_TYPE(INSTANTIATE)

}  // namespace tessera::device::cuda
