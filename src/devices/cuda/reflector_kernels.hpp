// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

/// Asynchronous kernels of QR factorization that neither cuBLAS nor cuSOLVER has in this form. C++17, because nvcc of
/// CUDA 11 compiles the files that implement them.
namespace tessera::device::cuda {

/// V ← the lower triangle of A, of order k, with ones on its diagonal and zeros above.
template <typename T>
cudaError_t unit_lower(cudaStream_t stream, int k, const T* A, int lda, T* V, int ldv);

/// C ← D C, where D has the m `factors` on its diagonal.
template <typename T>
cudaError_t scale_rows(cudaStream_t stream, int m, int n, const T* factors, T* C, int ldc);

/// Sums |C − s I|² over the upper triangle, with row i weighted by the real part of weights[i]. NaN spreads.
/// @param weights  if null, all weights are 1
/// @param parts    `parts_of_squares` numbers in pinned memory, which the caller adds
inline constexpr int parts_of_squares = 8;
template <typename T>
cudaError_t sum_squares(cudaStream_t stream, int n, const T* C, int ldc, const T* weights, double s, double* parts);

/// A − S = L U in place. The diagonal matrix S has the signs ±1 that make the pivots largest.
/// @param n  the order of A, at most `leaf_with_signs`
inline constexpr int leaf_with_signs = 32;
template <typename T>
cudaError_t factorize_leaf_with_signs(cudaStream_t stream, int n, T* A, int lda, T* signs);

/// C ← the upper triangle of A, or if `signs` is not null, of −A S, with zeros below.
template <typename T>
cudaError_t copy_upper(cudaStream_t stream, int n, const T* A, int lda, const T* signs, T* C, int ldc);

/// The upper triangle of A ← the upper triangle of S R.
template <typename T>
cudaError_t set_upper(cudaStream_t stream, int n, const T* signs, const T* R, int ldr, T* A, int lda);

}  // namespace tessera::device::cuda
