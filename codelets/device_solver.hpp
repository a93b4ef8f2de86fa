// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cusolverDn.h>

#include <tessera/types.hpp>

#include "common/of_type.hpp"
#include "device_blas.hpp"

/// cuSOLVER on the stream of a CUDA worker. A worker starts it in its first factorization: programs that only multiply
/// do not wait for it, and keep its memory.
namespace tessera::device {

/// What a worker needs to factorize tiles.
struct Solver {
  cusolverDnHandle_t handle = nullptr;
  int* info = nullptr;       ///< pinned: what cuSOLVER reports of a factorization
  void* diagonal = nullptr;  ///< pinned: room for `longest_diagonal` elements of any type
};
inline constexpr int longest_diagonal = 4096;

/// The solver of the calling CUDA worker. Starts it, if it is not started.
/// @return  with null members if that failed, which has been reported
const Solver& local_solver();

/// Stops the solver of the calling CUDA worker.
void destroy_solver();

/// The elements of workspace that `potrf` needs.
template <Scalar T>
cusolverStatus_t potrf_workspace(cusolverDnHandle_t handle, Uplo uplo, int n, T* A, int lda, int* elements) {
  return of_type<T>(cusolverDnSpotrf_bufferSize, cusolverDnDpotrf_bufferSize, cusolverDnCpotrf_bufferSize,
                    cusolverDnZpotrf_bufferSize)(handle, cublas(uplo), n, cublas(A), lda, elements);
}

/// A triangle of A ← its Cholesky factor. *info ← 0, or the order of the first leading minor that is not positive.
template <Scalar T>
cusolverStatus_t potrf(cusolverDnHandle_t handle, Uplo uplo, int n, T* A, int lda, T* workspace, int elements,
                       int* info) {
  return of_type<T>(cusolverDnSpotrf, cusolverDnDpotrf, cusolverDnCpotrf, cusolverDnZpotrf)(
      handle, cublas(uplo), n, cublas(A), lda, cublas(workspace), elements, info);
}

/// B ← A⁻¹ B, with the factor of A that `potrf` has computed.
template <Scalar T>
cusolverStatus_t potrs(cusolverDnHandle_t handle, Uplo uplo, int n, int nrhs, const T* A, int lda, T* B, int ldb,
                       int* info) {
  return of_type<T>(cusolverDnSpotrs, cusolverDnDpotrs, cusolverDnCpotrs, cusolverDnZpotrs)(
      handle, cublas(uplo), n, nrhs, cublas(A), lda, cublas(B), ldb, info);
}

}  // namespace tessera::device
