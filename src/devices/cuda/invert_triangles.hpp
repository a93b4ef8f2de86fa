// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

/// The inverses of small triangles. C++17, because nvcc of CUDA 11 compiles the file that implements them.
namespace tessera::device::cuda {

/// The order of the triangles that `invert_triangles` inverts.
inline constexpr int inverted_order = 256;

/// Inverts the diagonal triangles of order `inverted_order` of a triangle A of order n; the last one may be smaller.
/// Each inverse is stored in a square of V, and all elements of the square are written. Asynchronous. cuBLAS's
/// trsm_batched is several times slower for this order, because it works on few rows at a time and then waits for
/// memory.
/// @param unit  the diagonal of A is not read, and its elements are taken as 1
/// @param ldv   the number of rows of V, a multiple of `inverted_order`; element (i, j), counted as in A, is in
///              row i modulo ldv and column j of V
template <typename T>
cudaError_t invert_triangles(cudaStream_t stream, bool lower, bool unit, int n, const T* A, int lda, T* V, int ldv);

}  // namespace tessera::device::cuda
