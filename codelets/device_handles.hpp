// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublas_v2.h>

#include <cstddef>

#include <tessera/types.hpp>

/// A cuBLAS handle on the worker's stream, some device memory and some pinned host memory for each CUDA worker.
/// StarPU's own handles are not used: they belong to the program that started StarPU, and remain as dangling pointers
/// after its shutdown.
namespace tessera::device {

/// Creates the handles and the memory of all CUDA workers, and adds slots to `sum_slots`.
/// @throws RuntimeError if cuBLAS cannot start and compute on a device, or if the device has no memory left
void create_handles();
void destroy_handles();

/// The handle of the calling CUDA worker.
cublasHandle_t local_handle();

/// Order of the blocks on a diagonal that are computed as squares where an operation has no triangular form.
inline constexpr int leaf = 512;

/// Device memory of the calling CUDA worker. Its tasks use the memory one after another, in the order of its stream.
void* local_workspace();

/// The local workspace, split into a square of order `leaf` and a packed triangle of the same order.
template <Scalar T>
struct LeafWorkspace {
  T* square = static_cast<T*>(local_workspace());
  T* packed = square + static_cast<std::size_t>(leaf) * leaf;
};
/// Holds a few thousand columns of a block of trmm or trsm.
inline constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

/// Pinned host memory of the calling CUDA worker for results that a task waits for.
void* local_results();
inline constexpr std::size_t results_bytes = 128;

/// Pinned host memory of the calling CUDA worker, out of which batched kernels read their pointers. A copy of the
/// pointers to the device would queue behind the tiles that arrive.
const void** local_pointers();
inline constexpr std::size_t most_pointers = 8192;

/// Sets the diagonal of a matrix of order n to ones.
/// @pre  n ≤ leaf
template <Scalar T>
void set_unit_diagonal(int n, T* A, int lda);

/// Sets the imaginary parts of the diagonal of a matrix of order n to zero.
template <ComplexScalar T>
void clear_imaginary_diagonal(int n, T* A, int lda);

}  // namespace tessera::device
