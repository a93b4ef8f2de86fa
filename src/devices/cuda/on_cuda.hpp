// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

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

/// Lets the worker call `function` when the GPU has completed the current task, before tasks that depend on it can run.
/// CUDA's own host functions would run in another thread, 0.1 to 0.2 ms later.
template <typename Function>
void when_complete(Function function) {
  struct Epilogue {
    Function function;
    void (*others)(void*);  ///< the epilogue that the task had before
    void* argument;
  };
  auto* const task = starpu_task_get_current();
  task->epilogue_callback_arg =
      new Epilogue{std::move(function), task->epilogue_callback_func, task->epilogue_callback_arg};
  task->epilogue_callback_func = [](void* it) {
    const std::unique_ptr<Epilogue> own(static_cast<Epilogue*>(it));
    auto* const ending = starpu_task_get_current();
    ending->epilogue_callback_func = own->others, ending->epilogue_callback_arg = own->argument;
    own->function();
    if (own->others != nullptr) own->others(own->argument);
  };
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
