// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cusolverDn.h>

#include <cstddef>
#include <cstdint>

#include <tessera/types.hpp>

#include "common/not_copyable.hpp"
#include "common/of_type.hpp"
#include "cublas.hpp"
#include "panel.hpp"

/// cuSOLVER on the stream of a CUDA worker, which starts it for its first factorization. Programs that only multiply
/// neither wait for cuSOLVER nor spend memory on it.
namespace tessera::device::cuda {

/// The resources of a worker for the factorization of tiles.
struct Solver {
  cusolverDnHandle_t handle = nullptr;
  int* info = nullptr;  ///< pinned: what cuSOLVER reports for a factorization, for which the task waits
  LeafExchange* exchange = nullptr;
  std::uint32_t epoch = 0;  ///< the epoch of the last leaf
};

/// Device memory of the calling CUDA worker for its next factorization. If there is too little, reports a failure and
/// returns null.
void* solver_workspace(std::size_t bytes);

/// The solver of the calling CUDA worker. Starts it if necessary.
/// @return  the solver; if it could not start, the failure has been reported, and the members are null
Solver& local_solver();

/// The epoch of the next leaf with this solver.
std::uint32_t next_epoch(Solver& solver);

/// While this object exists, the solver of the calling CUDA worker computes on the lane in use.
class SolverOnLane : common::NotCopyable {
 public:
  SolverOnLane();
  ~SolverOnLane();
};

/// Stops the solvers of all CUDA workers.
void destroy_solvers();

// A function of a triangle of A, and the number of workspace elements that it needs.
#define DEFINE_ON_TRIANGLE(name)                                                                                 \
  template <Scalar T>                                                                                            \
  cusolverStatus_t name##_workspace(cusolverDnHandle_t handle, Uplo uplo, int n, T* A, int lda, int* elements) { \
    return call(common::of_type<T>(cusolverDnS##name##_bufferSize, cusolverDnD##name##_bufferSize,               \
                                   cusolverDnC##name##_bufferSize, cusolverDnZ##name##_bufferSize),              \
                handle, uplo, n, A, lda, elements);                                                              \
  }                                                                                                              \
  template <Scalar T>                                                                                            \
  cusolverStatus_t name(cusolverDnHandle_t handle, Uplo uplo, int n, T* A, int lda, T* workspace, int elements,  \
                        int* info) {                                                                             \
    return call(common::of_type<T>(cusolverDnS##name, cusolverDnD##name, cusolverDnC##name, cusolverDnZ##name),  \
                handle, uplo, n, A, lda, workspace, elements, info);                                             \
  }

/// A triangle of A ← its Cholesky factor. *info ← 0, or the order of the first leading minor that is not positive.
DEFINE_ON_TRIANGLE(potrf)
/// A triangle L or U of A ← the same triangle of Lᴴ L (Lower) or U Uᴴ (Upper).
DEFINE_ON_TRIANGLE(lauum)
/// A triangle of A ← the inverse of the matrix whose factor `potrf` has computed.
DEFINE_ON_TRIANGLE(potri)
#undef DEFINE_ON_TRIANGLE

/// The number of workspace elements that `getrf` needs.
template <Scalar T>
cusolverStatus_t getrf_workspace(cusolverDnHandle_t handle, int m, int n, T* A, int lda, int* elements) {
  return call(common::of_type<T>(cusolverDnSgetrf_bufferSize, cusolverDnDgetrf_bufferSize, cusolverDnCgetrf_bufferSize,
                                 cusolverDnZgetrf_bufferSize),
              handle, m, n, A, lda, elements);
}

/// A ← L U with P A = L U, or with A = L U if `pivots` is null. *info ← 0, or the first i with U(i, i) = 0.
template <Scalar T>
cusolverStatus_t getrf(cusolverDnHandle_t handle, int m, int n, T* A, int lda, T* workspace, int* pivots, int* info) {
  return call(common::of_type<T>(cusolverDnSgetrf, cusolverDnDgetrf, cusolverDnCgetrf, cusolverDnZgetrf), handle, m, n,
              A, lda, workspace, pivots, info);
}

/// The number of workspace elements that `geqrf` needs.
template <Scalar T>
cusolverStatus_t geqrf_workspace(cusolverDnHandle_t handle, int m, int n, T* A, int lda, int* elements) {
  return call(common::of_type<T>(cusolverDnSgeqrf_bufferSize, cusolverDnDgeqrf_bufferSize, cusolverDnCgeqrf_bufferSize,
                                 cusolverDnZgeqrf_bufferSize),
              handle, m, n, A, lda, elements);
}

/// A ← R on and above the diagonal, and the reflectors below it; tau ← their scalar factors.
template <Scalar T>
cusolverStatus_t geqrf(cusolverDnHandle_t handle, int m, int n, T* A, int lda, T* tau, T* workspace, int elements,
                       int* info) {
  return call(common::of_type<T>(cusolverDnSgeqrf, cusolverDnDgeqrf, cusolverDnCgeqrf, cusolverDnZgeqrf), handle, m, n,
              A, lda, tau, workspace, elements, info);
}

/// B ← A⁻¹ B, with the factor of A that `potrf` has computed.
template <Scalar T>
cusolverStatus_t potrs(cusolverDnHandle_t handle, Uplo uplo, int n, int nrhs, const T* A, int lda, T* B, int ldb,
                       int* info) {
  return call(common::of_type<T>(cusolverDnSpotrs, cusolverDnDpotrs, cusolverDnCpotrs, cusolverDnZpotrs), handle, uplo,
              n, nrhs, A, lda, B, ldb, info);
}

/// B ← A⁻¹ B, with the factors of A that `getrf` has computed.
template <Scalar T>
cusolverStatus_t getrs(cusolverDnHandle_t handle, int n, int nrhs, const T* A, int lda, const int* pivots, T* B,
                       int ldb, int* info) {
  return call(common::of_type<T>(cusolverDnSgetrs, cusolverDnDgetrs, cusolverDnCgetrs, cusolverDnZgetrs), handle,
              CUBLAS_OP_N, n, nrhs, A, lda, pivots, B, ldb, info);
}

/// The bytes of workspace, on the device and on the host, that `trtri` needs.
template <Scalar T>
cusolverStatus_t trtri_workspace(cusolverDnHandle_t handle, Uplo uplo, Diag diag, int n, T* A, int lda,
                                 std::size_t* on_device, std::size_t* on_host) {
  return cusolverDnXtrtri_bufferSize(handle, cublas(uplo), cublas(diag), n,
                                     common::of_type<T>(CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F), A, lda,
                                     on_device, on_host);
}

/// A triangle of A ← its inverse. *info ← 0, or the first i with A(i, i) = 0.
template <Scalar T>
cusolverStatus_t trtri(cusolverDnHandle_t handle, Uplo uplo, Diag diag, int n, T* A, int lda, void* on_device,
                       std::size_t device_bytes, void* on_host, std::size_t host_bytes, int* info) {
  return cusolverDnXtrtri(handle, cublas(uplo), cublas(diag), n,
                          common::of_type<T>(CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F), A, lda, on_device,
                          device_bytes, on_host, host_bytes, info);
}

}  // namespace tessera::device::cuda
