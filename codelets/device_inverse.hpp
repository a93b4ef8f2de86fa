// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

/// The inverses of small triangles. C++17: nvcc of CUDA 11 compiles the file that implements them.
namespace tessera::device {

/// The order of the triangles that `invert_triangles` inverts.
inline constexpr int inverted_order = 256;

/// Inverts the triangles of order `inverted_order` on the diagonal of a triangle A of order n, the last of which may be
/// smaller. Each lies in a square of V, of which all elements are written. Asynchronous. cuBLAS's trsm_batched takes
/// several times as long for blocks of this order: it works on few rows at a time, and waits for memory in between.
/// @param unit  the diagonal of A is not read: its elements are 1
/// @param ldv   a multiple of `inverted_order`: V has this many rows, and element (i, j) of the inverse is in its row
///              i modulo ldv
template <typename T>
cudaError_t invert_triangles(cudaStream_t stream, bool lower, bool unit, int n, const T* A, int lda, T* V, int ldv);

}  // namespace tessera::device
