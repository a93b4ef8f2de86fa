// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// Kernels that find the largest elements of a matrix, and kernels that process the results. They are asynchronous,
/// unlike cuBLAS, which finds only the index of the largest element: the host would have to wait for it to read the
/// element. C++17, because nvcc of CUDA 11 compiles the files that implement them.
namespace tessera::device {

/// *result ← max(*result, |Re| + |Im| of the elements of A). NaN counts as infinite.
/// @param result  in device memory, nonnegative
template <typename T>
cudaError_t add_magnitude(cudaStream_t stream, int m, int n, const T* A, int lda, double* result);

/// The same for the lower or upper triangle of A (m×n), split into the diagonal squares of order `block` and the rest.
/// @param unit  the diagonal is not read: its elements are 1
template <typename T>
cudaError_t add_magnitudes_of_triangle(cudaStream_t stream, bool lower, bool unit, int block, int m, int n, const T* A,
                                       int lda, double* of_squares, double* of_rest);

/// *first ← the first row of a lower triangle of order n, or column of an upper one, with an infinite element or NaN
/// off the diagonal; more than n if there is none.
/// @param first  in pinned memory
template <typename T>
cudaError_t first_not_finite(cudaStream_t stream, bool lower, int n, const T* A, int lda, int* first);

/// Moves values from device memory to pinned memory, leaving zeros. A copy would have to queue behind tiles that are
/// being written back.
cudaError_t take_values(cudaStream_t stream, double* values, int count, double* pinned);

/// *pinned ← *value, and *value ← 0: the same for one value, converted to the real type of a matrix.
template <typename Real>
cudaError_t take_value(cudaStream_t stream, double* value, Real* pinned);

/// Arrays of pointers for batched operations. Element i of array a is base[a] + (i / 2) pair[a] + (i % 2) single[a].
struct PointerArrays {
  static constexpr int most = 5;
  const void* base[most];
  std::ptrdiff_t single[most], pair[most];  ///< bytes
};

/// Writes `arrays` arrays of `count` pointers one after another.
/// @param pointers  in device memory
cudaError_t write_pointers(cudaStream_t stream, const PointerArrays& of, int arrays, int count, const void** pointers);

}  // namespace tessera::device
