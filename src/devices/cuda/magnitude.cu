// SPDX-License-Identifier: BSD-3-Clause
// Kernels that find the largest elements of a matrix.
#include <cstddef>

#include "arithmetic.cuh"
#include "magnitude.hpp"

namespace tessera::device::cuda {

namespace {

constexpr int threads = column_threads;

/// *result ← max(*result, x of all threads of the block). The bits of nonnegative doubles have the same order as their
/// values.
__device__ void add_to(double* result, double x) {
  __shared__ unsigned long long largest;
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  if (x > 0) atomicMax(&largest, static_cast<unsigned long long>(__double_as_longlong(x)));
  __syncthreads();
  if (threadIdx.x == 0 && largest > 0) atomicMax(reinterpret_cast<unsigned long long*>(result), largest);
  __syncthreads();
}

template <typename N>
__global__ void __launch_bounds__(threads) magnitude_kernel(int m, int n, const N* A, int lda, double* result) {
  double largest = 0;
  for (int j = blockIdx.x; j < n; j += gridDim.x)
    for (int i = threadIdx.x; i < m; i += threads)
      largest = fmax(largest, magnitude(A[i + static_cast<std::ptrdiff_t>(j) * lda]));
  add_to(result, largest);
}

template <typename N>
__global__ void __launch_bounds__(threads)
    magnitudes_of_triangle_kernel(bool lower, bool unit, int block, int m, int n, const N* A, int lda,
                                  double* of_squares, double* of_rest) {
  double in_squares = 0, in_rest = 0;
  for (int j = blockIdx.x; j < n; j += gridDim.x) {
    const int square = j / block * block;
    const int begin = lower ? j + (unit ? 1 : 0) : 0, end = lower ? m : min(j + (unit ? 0 : 1), m);
    for (int i = begin + static_cast<int>(threadIdx.x); i < end; i += threads) {
      const double one = magnitude(A[i + static_cast<std::ptrdiff_t>(j) * lda]);
      if (i >= square && i < square + block) in_squares = fmax(in_squares, one);
      else in_rest = fmax(in_rest, one);
    }
  }
  add_to(of_squares, unit ? fmax(in_squares, 1.0) : in_squares);
  add_to(of_rest, in_rest);
}

template <typename R>
__device__ bool is_finite(R x) {
  return x - x == 0;
}
template <typename R>
__device__ bool is_finite(Complex<R> x) {
  return is_finite(x.re) && is_finite(x.im);
}

template <typename N>
__global__ void __launch_bounds__(threads) first_not_finite_kernel(bool lower, int n, const N* A, int lda, int* first) {
  __shared__ int least;
  if (threadIdx.x == 0) least = n;
  __syncthreads();
  for (int j = blockIdx.x; j < n; j += gridDim.x) {
    const int begin = lower ? j + 1 : 0, end = lower ? n : j;
    for (int i = begin + static_cast<int>(threadIdx.x); i < end; i += threads)
      if (!is_finite(A[i + static_cast<std::ptrdiff_t>(j) * lda])) atomicMin(&least, lower ? i : j);
  }
  __syncthreads();
  if (threadIdx.x == 0 && least < n) atomicMin(first, least);
}

template <typename R>
__device__ bool is_zero(R x) {
  return x == 0;
}
template <typename R>
__device__ bool is_zero(Complex<R> x) {
  return x.re == 0 && x.im == 0;
}
/// One block. Searches for zeros if `zeros`, else for elements that are not positive.
template <bool zeros, typename N>
__global__ void __launch_bounds__(threads) first_on_diagonal_kernel(int n, const N* A, int lda, int* first) {
  __shared__ int least;
  if (threadIdx.x == 0) least = n;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += threads) {
    const N x = A[i + static_cast<std::ptrdiff_t>(i) * lda];
    if (zeros ? is_zero(x) : !(real_part(x) > 0)) atomicMin(&least, i);
  }
  __syncthreads();
  if (threadIdx.x == 0) *first = least;
}

__global__ void take_values_kernel(double* values, int count, double* pinned) {
  const int i = threadIdx.x;
  if (i < count) pinned[i] = values[i], values[i] = 0;
}

template <typename R>
__global__ void take_value_kernel(double* value, R* pinned) {
  *pinned = static_cast<R>(*value), *value = 0;
}

__global__ void write_pointers_kernel(PointerArrays of, int arrays, int count, const void** pointers) {
  for (int i = threadIdx.x; i < arrays * count; i += blockDim.x) {
    const int array = i / count, element = i % count;
    pointers[i] =
        static_cast<const char*>(of.base[array]) + element / 2 * of.pair[array] + element % 2 * of.single[array];
  }
}

}  // namespace

template <typename T>
cudaError_t add_magnitude(cudaStream_t stream, int m, int n, const T* A, int lda, double* result) {
  using N = Number<T>;
  magnitude_kernel<N><<<blocks_of_columns(n), threads, 0, stream>>>(m, n, reinterpret_cast<const N*>(A), lda, result);
  return cudaGetLastError();
}

template <typename T>
cudaError_t add_magnitudes_of_triangle(cudaStream_t stream, bool lower, bool unit, int block, int m, int n, const T* A,
                                       int lda, double* of_squares, double* of_rest) {
  using N = Number<T>;
  magnitudes_of_triangle_kernel<N><<<blocks_of_columns(n), threads, 0, stream>>>(
      lower, unit, block, m, n, reinterpret_cast<const N*>(A), lda, of_squares, of_rest);
  return cudaGetLastError();
}

template <typename T>
cudaError_t first_not_finite(cudaStream_t stream, bool lower, int n, const T* A, int lda, int* first) {
  using N = Number<T>;
  first_not_finite_kernel<N>
      <<<blocks_of_columns(n), threads, 0, stream>>>(lower, n, reinterpret_cast<const N*>(A), lda, first);
  return cudaGetLastError();
}

template <typename T>
cudaError_t first_zero(cudaStream_t stream, int n, const T* A, int lda, int* first) {
  using N = Number<T>;
  first_on_diagonal_kernel<true, N><<<1, threads, 0, stream>>>(n, reinterpret_cast<const N*>(A), lda, first);
  return cudaGetLastError();
}

template <typename T>
cudaError_t first_not_positive(cudaStream_t stream, int n, const T* A, int lda, int* first) {
  using N = Number<T>;
  first_on_diagonal_kernel<false, N><<<1, threads, 0, stream>>>(n, reinterpret_cast<const N*>(A), lda, first);
  return cudaGetLastError();
}

cudaError_t take_values(cudaStream_t stream, double* values, int count, double* pinned) {
  take_values_kernel<<<1, count, 0, stream>>>(values, count, pinned);
  return cudaGetLastError();
}

template <typename R>
cudaError_t take_value(cudaStream_t stream, double* value, R* pinned) {
  take_value_kernel<<<1, 1, 0, stream>>>(value, pinned);
  return cudaGetLastError();
}
template cudaError_t take_value<float>(cudaStream_t, double*, float*);
template cudaError_t take_value<double>(cudaStream_t, double*, double*);

cudaError_t write_pointers(cudaStream_t stream, const PointerArrays& of, int arrays, int count, const void** pointers) {
  write_pointers_kernel<<<1, threads, 0, stream>>>(of, arrays, count, pointers);
  return cudaGetLastError();
}

#define INSTANTIATE(T)                                                                                                \
  template cudaError_t add_magnitude<T>(cudaStream_t, int, int, const T*, int, double*);                              \
  template cudaError_t add_magnitudes_of_triangle<T>(cudaStream_t, bool, bool, int, int, int, const T*, int, double*, \
                                                     double*);                                                        \
  template cudaError_t first_not_finite<T>(cudaStream_t, bool, int, const T*, int, int*);                             \
  template cudaError_t first_zero<T>(cudaStream_t, int, const T*, int, int*);                                         \
  template cudaError_t first_not_positive<T>(cudaStream_t, int, const T*, int, int*);
FOR_EACH_TYPE(INSTANTIATE)

}  // namespace tessera::device::cuda
