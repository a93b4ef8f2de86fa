// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <limits>
#include <string>

#include <tessera/types.hpp>

#include "columns.hpp"
#include "common/not_copyable.hpp"

/// For each CUDA worker, a cuBLAS handle on its stream, device memory and pinned host memory. StarPU's own handles are
/// not used, because they belong to the program that started StarPU, and dangle after its shutdown.
namespace tessera::device::cuda {

/// Creates the handles and the memory of all CUDA workers, and adds slots to `sum_slots`. If GPU 0 has no worker, the
/// first GPU that has one becomes the current device of the CPU workers, for good.
/// @throws RuntimeError if cuBLAS cannot start and compute on a device, or the device is out of memory
void create_handles();
void destroy_handles();

using Stream = cudaStream_t;
using Handle = cublasHandle_t;  ///< of the BLAS
using BlasStatus = cublasStatus_t;

/// A stream, with the cuBLAS handle and the memory that operations on this stream use one after another.
struct Lane {
  static constexpr int most_values = 8;
  static constexpr std::size_t most_pointers = 8192;

  cudaStream_t stream = nullptr;
  cublasHandle_t handle = nullptr;
  void* workspace = nullptr;        ///< device memory
  const void** pointers = nullptr;  ///< device memory for the pointers of batched operations
  double* values = nullptr;         ///< device memory: what `take_values` moves to a Report; zeros between operations
  void* results = nullptr;          ///< pinned memory for results that a task waits for
  int multiprocessors = 0;          ///< number of multiprocessors available to kernels of this lane
};

/// Creates the handle and the memory of a lane that already has its stream.
/// @return  a description of the failure, or ""; stop_lane destroys the resources created so far
std::string start_lane(Lane& lane);
void stop_lane(Lane& lane);

/// The lane of the calling CUDA worker: the lane of its StarPU stream, or while a UseLane exists, the lane of that
/// object.
Lane& local_lane();

/// What the kernels of a task find, in pinned memory, for a function passed to `when_complete`.
struct Report {
  int info = 0;                                       ///< of cuSOLVER, or of the leaves of a panel
  int not_finite = std::numeric_limits<int>::max();   ///< of `first_not_finite`
  int on_diagonal = std::numeric_limits<int>::max();  ///< of `first_zero` or `first_not_positive`
  std::array<double, Lane::most_values> values{};     ///< of `take_values`
};

/// A new report for the current task of the calling CUDA worker. It is valid until the task ends.
Report& new_report();

/// Redirects the operations of the calling worker to another lane.
class UseLane : common::NotCopyable {
 public:
  explicit UseLane(Lane& lane);
  ~UseLane();

 private:
  Lane* before_;
};

inline cudaStream_t local_stream() { return local_lane().stream; }
inline cublasHandle_t local_handle() { return local_lane().handle; }

/// The order of the diagonal blocks that an operation computes as squares if cuBLAS cannot compute only a triangle.
inline constexpr int leaf = 512;

/// Device memory of the calling CUDA worker. Its tasks use the memory one after another, in stream order.
inline void* local_workspace() { return local_lane().workspace; }

/// The local workspace, split into a square of order `leaf` and a packed triangle of the same order.
template <Scalar T>
struct LeafWorkspace {
  T* square = static_cast<T*>(local_workspace());
  T* packed = square + static_cast<std::size_t>(leaf) * leaf;
};
/// Size of the workspace: enough for a few thousand columns of a block of trmm or trsm.
inline constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

/// Pinned host memory of the calling CUDA worker for results that a task waits for.
inline void* local_results() { return local_lane().results; }
inline constexpr std::size_t results_bytes = 128;

/// Waits for the work submitted to a stream so far.
inline cudaError_t wait_for(Stream stream) { return cudaStreamSynchronize(stream); }
inline constexpr cudaError_t success = cudaSuccess;

/// Sets elements in device memory to zero.
template <typename T>
cudaError_t clear(Stream stream, T* elements, std::size_t count) {
  return cudaMemsetAsync(elements, 0, count * sizeof(T), stream);
}
/// Sets an m×n matrix to zero.
template <typename T>
cudaError_t clear_matrix(Stream stream, int m, int n, T* A, int lda) {
  return clear_columns(A, static_cast<std::size_t>(lda) * sizeof(T), static_cast<std::size_t>(m) * sizeof(T),
                       static_cast<std::size_t>(n), stream);
}
/// Copies elements between device memory and any memory.
template <typename T>
cudaError_t copy_elements(Stream stream, const T* from, T* to, std::size_t count) {
  return cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream);
}
/// B ← A, m×n, in the memory of one device.
template <typename T>
cudaError_t copy_matrix(Stream stream, int m, int n, const T* A, int lda, T* B, int ldb) {
  return copy_columns(B, static_cast<std::size_t>(ldb) * sizeof(T), A, static_cast<std::size_t>(lda) * sizeof(T),
                      static_cast<std::size_t>(m) * sizeof(T), static_cast<std::size_t>(n), cudaMemcpyDeviceToDevice,
                      stream);
}

/// Sets the diagonal of a matrix of order n to ones.
/// @pre  n ≤ leaf
template <Scalar T>
void set_unit_diagonal(int n, T* A, int lda);

/// Sets the imaginary parts of the diagonal of a matrix of order n to zero.
template <ComplexScalar T>
void clear_imaginary_diagonal(int n, T* A, int lda);

}  // namespace tessera::device::cuda
