// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

/// The kernels of QR factorization that neither cuBLAS nor cuSOLVER has in this form. They are asynchronous.
/// C++17: nvcc of CUDA 11 compiles the files that implement them.
namespace tessera::device {

/// V ← the lower triangle of A, of order k, with ones on its diagonal and zeros above.
template <typename T>
cudaError_t unit_lower(cudaStream_t stream, int k, const T* A, int lda, T* V, int ldv);

/// C ← D C, where D has the m `factors` on its diagonal.
template <typename T>
cudaError_t scale_rows(cudaStream_t stream, int m, int n, const T* factors, T* C, int ldc);

}  // namespace tessera::device
