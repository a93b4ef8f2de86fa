// SPDX-License-Identifier: BSD-3-Clause
// The inverses of small triangles, by substitution. A warp computes a column of the inverse in registers. Each of its
// threads holds every 32nd row.
#include <cstddef>

#include "arithmetic.cuh"
#include "invert_triangles.hpp"

namespace tessera::device::cuda {

namespace {

constexpr int order = inverted_order, lanes = 32, rows = order / lanes;  // rows: per thread
constexpr int warps = 8, threads = warps * lanes;
constexpr int staged = 8;  // columns of the triangle held in shared memory

template <typename R>
__device__ R from_lane(R x, int lane) {
  return __shfl_sync(~0U, x, lane);
}
template <typename R>
__device__ Complex<R> from_lane(Complex<R> x, int lane) {
  return {from_lane(x.re, lane), from_lane(x.im, lane)};
}

template <typename N>
__device__ N one() {
  N x{};
  reinterpret_cast<typename RealOf<N>::Type&>(x) = 1;
  return x;
}

/// A triangle that is accessed as a lower triangle; an upper triangle is read backwards.
template <typename N>
struct Triangle {
  const N* A;
  int lda, count;
  bool lower, unit;

  __device__ int place(int i) const { return lower ? i : count - 1 - i; }
  __device__ N element(int i, int j) const {
    if (i < j || i >= count) return N{};
    return A[place(i) + static_cast<std::ptrdiff_t>(place(j)) * lda];
  }
  __device__ N inverse_of_diagonal(int i) const { return unit || i >= count ? one<N>() : inverse(element(i, i)); }
};

/// Block (x, y) computes columns [warps x, warps (x + 1)) of the inverse of triangle y.
template <typename N>
__global__ void __launch_bounds__(threads)
    invert_kernel(bool lower, bool unit, int n, const N* A, int lda, N* V, int ldv) {
  static_assert(threads == order, "each thread stages one row");
  __shared__ N column[staged][order], inverses[staged];
  const int first = static_cast<int>(blockIdx.y) * order, thread = static_cast<int>(threadIdx.x);
  const Triangle<N> L{A + first + static_cast<std::ptrdiff_t>(first) * lda, lda, min(order, n - first), lower, unit};
  const int lane = thread % lanes, begin = static_cast<int>(blockIdx.x) * warps, j = begin + thread / lanes;
  if (begin >= L.count) return;
  N x[rows], next[staged], next_inverse{};
  const auto fetch = [&](int k) {
    for (int c = 0; c < staged; c++) next[c] = L.element(thread, k + c);
    if (thread < staged) next_inverse = L.inverse_of_diagonal(k + thread);
  };
#pragma unroll
  for (int r = 0; r < rows; r++) x[r] = r * lanes + lane == j ? one<N>() : N{};
  fetch(begin);
#pragma unroll
  for (int r = 0; r < rows; r++) {
    if ((r + 1) * lanes <= begin || r * lanes >= L.count) continue;
    for (int k = max(begin, r * lanes); k < (r + 1) * lanes; k += staged) {
      __syncthreads();
      for (int c = 0; c < staged; c++) column[c][thread] = next[c];
      if (thread < staged) inverses[thread] = next_inverse;
      __syncthreads();
      fetch(k + staged);
#pragma unroll
      for (int c = 0; c < staged; c++) {
        const int owner = k + c - r * lanes;
        const N solved = product(from_lane(x[r], owner), inverses[c]);
        if (lane == owner) x[r] = solved;
        else if (lane > owner) x[r] = minus_product(x[r], column[c][r * lanes + lane], solved);
#pragma unroll
        for (int below = r + 1; below < rows; below++)
          x[below] = minus_product(x[below], column[c][below * lanes + lane], solved);
      }
    }
  }
  if (j >= L.count) return;
  const int to = first + L.place(j);
#pragma unroll
  for (int r = 0; r < rows; r++)
    if (const int i = r * lanes + lane; i < L.count)
      V[(first + L.place(i)) % ldv + static_cast<std::ptrdiff_t>(to) * ldv] = x[r];
}

}  // namespace

template <typename T>
cudaError_t invert_triangles(cudaStream_t stream, bool lower, bool unit, int n, const T* A, int lda, T* V, int ldv) {
  using N = Number<T>;
  const dim3 blocks(order / warps, static_cast<unsigned>(blocks_for(n, order)));
  invert_kernel<N><<<blocks, threads, 0, stream>>>(lower, unit, n, reinterpret_cast<const N*>(A), lda,
                                                   reinterpret_cast<N*>(V), ldv);
  return cudaGetLastError();
}

#define INSTANTIATE(T) template cudaError_t invert_triangles<T>(cudaStream_t, bool, bool, int, const T*, int, T*, int);
FOR_EACH_TYPE(INSTANTIATE)

}  // namespace tessera::device::cuda
