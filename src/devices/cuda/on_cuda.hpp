// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "common/failure.hpp"
#include "cublas.hpp"
#include "handles.hpp"
#include "solver.hpp"

namespace tessera::device {

/// Reports the failure of an operation, if it has failed.
/// @return  whether it succeeded
inline bool check(const char* operation, cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return true;
  common::report_failure(std::string(operation) + " on a GPU: " + cublasGetStatusString(status));
  return false;
}

/// The same for cuSOLVER.
inline bool check(const char* operation, cusolverStatus_t status) {
  if (status == CUSOLVER_STATUS_SUCCESS) return true;
  common::report_failure(std::string(operation) + " on a GPU: cuSOLVER's status " + std::to_string(status));
  return false;
}

/// The same for CUDA's runtime.
inline bool check(const char* operation, cudaError_t status) {
  if (status == cudaSuccess) return true;
  common::report_failure(std::string(operation) + " on a GPU: " + cudaGetErrorString(status));
  cudaGetLastError();  // otherwise the next check of cuBLAS or StarPU would report it
  return false;
}

/// Calls `function` on the host once the GPU has done what was submitted to the stream before.
template <typename Function>
void then_on_host(cudaStream_t stream, Function function) {
  auto owned = std::make_unique<Function>(std::move(function));
  const auto run = [](void* it) {
    cuda::leave_core_of_worker();
    (*std::unique_ptr<Function>(static_cast<Function*>(it)))();
  };
  if (check("cudaLaunchHostFunc", cudaLaunchHostFunc(stream, run, owned.get())))
    static_cast<void>(owned.release());  // `run` deletes it
}

/// The BLAS of a CUDA worker. Its operations are asynchronous on the worker's stream.
struct OnDevice {
  cublasHandle_t handle = cuda::local_handle();

  void gemm(auto... x) const { check("gemm", cuda::gemm(handle, x...)); }
  void symm(auto... x) const { check("symm", cuda::symm(handle, x...)); }
  void hemm(auto... x) const { check("hemm", cuda::hemm(handle, x...)); }
  void syrk(auto... x) const { check("syrk", cuda::syrk(handle, x...)); }
  template <ComplexScalar T>
  void herk(Uplo uplo, Op op, int n, int k, Real<T> alpha, const T* A, int lda, Real<T> beta, T* C, int ldc) const {
    if (beta != 0) cuda::clear_imaginary_diagonal(n, C, ldc);  // cuBLAS would read the imaginary part
    check("herk", cuda::herk(handle, uplo, op, n, k, alpha, A, lda, beta, C, ldc));
  }
  void syr2k(auto... x) const { check("syr2k", cuda::syr2k(handle, x...)); }
  template <ComplexScalar T>
  void her2k(Uplo uplo, Op op, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, Real<T> beta, T* C,
             int ldc) const {
    if (beta != 0) cuda::clear_imaginary_diagonal(n, C, ldc);  // cuBLAS would read it
    check("her2k", cuda::her2k(handle, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc));
  }
};

}  // namespace tessera::device
