// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublas_v2.h>

#include <cstddef>

#include <tessera/types.hpp>

/// A cuBLAS handle and some memory for each CUDA worker, the handle on the worker's stream. Our own, not StarPU's:
/// those belong to the program that has started StarPU, and survive its shutdown as dangling pointers.
namespace tessera::device {

/// Creates them. @throws RuntimeError if cuBLAS cannot start and compute on a device, or it has no memory left
void create_handles();
void destroy_handles();

/// Of the CUDA worker that calls.
cublasHandle_t local_handle();

/// Order of the triangles on the diagonal that an operation without a triangular form computes as squares.
inline constexpr int leaf = 512;

/// Memory of the CUDA worker that calls: its tasks use it one after another, in the order of its stream.
void* local_workspace();

/// A square of order `leaf`, and the packed triangle of one.
template <Scalar T>
struct LeafWorkspace {
  T* square = static_cast<T*>(local_workspace());
  T* packed = square + static_cast<std::size_t>(leaf) * leaf;
};
inline constexpr std::size_t workspace_bytes = std::size_t{2} * leaf * leaf * sizeof(std::complex<double>);

/// Ones on the diagonal of a matrix of order n ≤ leaf.
template <Scalar T>
void set_unit_diagonal(int n, T* A, int lda);

/// Zeros for the imaginary parts of the diagonal of a matrix of order n.
template <ComplexScalar T>
void clear_imaginary_diagonal(int n, T* A, int lda);

}  // namespace tessera::device
