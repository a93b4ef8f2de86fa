// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

namespace tessera::device::cuda {

/// D ← the n×n symmetric or Hermitian matrix of which A stores a triangle. C++17, because nvcc of CUDA 11 compiles the
/// file that implements it.
template <typename T>
cudaError_t symmetrize(cudaStream_t stream, bool lower, bool hermitian, int n, const T* A, int lda, T* D, int ldd);

}  // namespace tessera::device::cuda
