// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// Asynchronous kernels that find the largest elements of a matrix, and process the results. cuBLAS only finds the
/// index of the largest element, for which the host would have to wait before it could read the element. C++17, because
/// nvcc of CUDA 11 compiles the files that implement the kernels.
namespace tessera::device::cuda {

/// *result ← max(*result, |Re| + |Im| of the elements of A). NaN counts as infinite.
/// @param result  in device memory, nonnegative
template <typename T>
cudaError_t add_magnitude(cudaStream_t stream, int m, int n, const T* A, int lda, double* result);

/// Finds the largest elements of the lower or upper triangle of A (m×n), separately for its diagonal squares of order
/// `block` and for the rest.
/// @param unit  the diagonal is not read, and its elements are taken as 1
template <typename T>
cudaError_t add_magnitudes_of_triangle(cudaStream_t stream, bool lower, bool unit, int block, int m, int n, const T* A,
                                       int lda, double* of_squares, double* of_rest);

/// *first ← the first row (lower triangle of order n) or column (upper) with an infinite element or NaN off the
/// diagonal; more than n if there is none.
/// @param first  in pinned memory, larger than n before
template <typename T>
cudaError_t first_not_finite(cudaStream_t stream, bool lower, int n, const T* A, int lda, int* first);

/// *first ← the index of the first of n diagonal elements that is exactly zero; n if there is none.
/// @param first  in pinned memory
template <typename T>
cudaError_t first_zero(cudaStream_t stream, int n, const T* A, int lda, int* first);
/// The same for the first one whose real part is not positive. NaN counts as not positive.
template <typename T>
cudaError_t first_not_positive(cudaStream_t stream, int n, const T* A, int lda, int* first);

/// Moves values from device memory to pinned memory, and sets them to zero. A kernel, because a copy would have to
/// queue behind tiles that are being written back.
cudaError_t take_values(cudaStream_t stream, double* values, int count, double* pinned);

/// *pinned ← *value, converted to the real type of a matrix, then *value ← 0.
template <typename Real>
cudaError_t take_value(cudaStream_t stream, double* value, Real* pinned);

/// Arrays of pointers for batched operations. Element i of array a is base[a] + (i / 2) pair[a] + (i % 2) single[a].
struct PointerArrays {
  static constexpr int most = 5;
  const void* base[most];
  std::ptrdiff_t single[most], pair[most];  ///< distances in bytes
};

/// Writes `arrays` arrays of `count` pointers one after another.
/// @param pointers  in device memory
cudaError_t write_pointers(cudaStream_t stream, const PointerArrays& of, int arrays, int count, const void** pointers);

}  // namespace tessera::device::cuda
