// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublasXt.h>

#include <tessera/types.hpp>

#include "codelets/device_blas.hpp"

/// cuBLAS-XT as one overload set for the four types. Only built with CUDA.
namespace tessera::bench::xt {

using device::cublas;

/// @throws RuntimeError naming the routine
void require(cublasStatus_t status, const char* what);

template <Scalar T>
void gemm(cublasXtHandle_t handle, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda,
          const T* B, Index ldb, T beta, T* C, Index ldc) {
  const auto function = of_type<T>(cublasXtSgemm, cublasXtDgemm, cublasXtCgemm, cublasXtZgemm);
  require(function(handle, cublas(op_a), cublas(op_b), m, n, k, cublas(&alpha), cublas(A), lda, cublas(B), ldb,
                   cublas(&beta), cublas(C), ldc),
          "cuBLAS-XT gemm");
}

template <Scalar T>
void symm(cublasXtHandle_t handle, Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B,
          Index ldb, T beta, T* C, Index ldc) {
  const auto function = of_type<T>(cublasXtSsymm, cublasXtDsymm, cublasXtCsymm, cublasXtZsymm);
  require(function(handle, cublas(side), cublas(uplo), m, n, cublas(&alpha), cublas(A), lda, cublas(B), ldb,
                   cublas(&beta), cublas(C), ldc),
          "cuBLAS-XT symm");
}

template <ComplexScalar T>
void hemm(cublasXtHandle_t handle, Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B,
          Index ldb, T beta, T* C, Index ldc) {
  const auto function = of_type<T>(cublasXtChemm, cublasXtZhemm);
  require(function(handle, cublas(side), cublas(uplo), m, n, cublas(&alpha), cublas(A), lda, cublas(B), ldb,
                   cublas(&beta), cublas(C), ldc),
          "cuBLAS-XT hemm");
}

template <Scalar T>
void syrk(cublasXtHandle_t handle, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C,
          Index ldc) {
  const auto function = of_type<T>(cublasXtSsyrk, cublasXtDsyrk, cublasXtCsyrk, cublasXtZsyrk);
  require(
      function(handle, cublas(uplo), cublas(op), n, k, cublas(&alpha), cublas(A), lda, cublas(&beta), cublas(C), ldc),
      "cuBLAS-XT syrk");
}

template <ComplexScalar T>
void herk(cublasXtHandle_t handle, Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda,
          Real<T> beta, T* C, Index ldc) {
  const auto function = of_type<T>(cublasXtCherk, cublasXtZherk);
  require(function(handle, cublas(uplo), cublas(op), n, k, &alpha, cublas(A), lda, &beta, cublas(C), ldc),
          "cuBLAS-XT herk");
}

template <Scalar T>
void syr2k(cublasXtHandle_t handle, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B,
           Index ldb, T beta, T* C, Index ldc) {
  const auto function = of_type<T>(cublasXtSsyr2k, cublasXtDsyr2k, cublasXtCsyr2k, cublasXtZsyr2k);
  require(function(handle, cublas(uplo), cublas(op), n, k, cublas(&alpha), cublas(A), lda, cublas(B), ldb,
                   cublas(&beta), cublas(C), ldc),
          "cuBLAS-XT syr2k");
}

template <ComplexScalar T>
void her2k(cublasXtHandle_t handle, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B,
           Index ldb, Real<T> beta, T* C, Index ldc) {
  const auto function = of_type<T>(cublasXtCher2k, cublasXtZher2k);
  require(function(handle, cublas(uplo), cublas(op), n, k, cublas(&alpha), cublas(A), lda, cublas(B), ldb, &beta,
                   cublas(C), ldc),
          "cuBLAS-XT her2k");
}

/// Works in place, as in the BLAS: the documentation of cuBLAS allows B as the output.
template <Scalar T>
void trmm(cublasXtHandle_t handle, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A,
          Index lda, T* B, Index ldb) {
  const auto function = of_type<T>(cublasXtStrmm, cublasXtDtrmm, cublasXtCtrmm, cublasXtZtrmm);
  require(function(handle, cublas(side), cublas(uplo), cublas(op), cublas(diag), m, n, cublas(&alpha), cublas(A), lda,
                   cublas(B), ldb, cublas(B), ldb),
          "cuBLAS-XT trmm");
}

template <Scalar T>
void trsm(cublasXtHandle_t handle, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A,
          Index lda, T* B, Index ldb) {
  const auto function = of_type<T>(cublasXtStrsm, cublasXtDtrsm, cublasXtCtrsm, cublasXtZtrsm);
  require(function(handle, cublas(side), cublas(uplo), cublas(op), cublas(diag), m, n, cublas(&alpha), cublas(A), lda,
                   cublas(B), ldb),
          "cuBLAS-XT trsm");
}

}  // namespace tessera::bench::xt
