// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cblas.h>

#include <cstddef>

#include <tessera/types.hpp>

/// The only place that calls CBLAS: one overload set over the four types.
namespace tessera::host {

inline CBLAS_TRANSPOSE cblas_op(Op op) {
  return op == Op::NoTrans ? CblasNoTrans : op == Op::Trans ? CblasTrans : CblasConjTrans;
}

template <Scalar T>
void gemm(Op op_a, Op op_b, int m, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
          int ldc) {
  const auto a = cblas_op(op_a), b = cblas_op(op_b);
  if constexpr (std::same_as<T, float>) cblas_sgemm(CblasColMajor, a, b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
  else if constexpr (std::same_as<T, double>)
    cblas_dgemm(CblasColMajor, a, b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
  else if constexpr (std::same_as<T, std::complex<float>>)
    cblas_cgemm(CblasColMajor, a, b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
  else cblas_zgemm(CblasColMajor, a, b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
}

/// x ← α x
template <Scalar T>
void scal(int n, T alpha, T* x) {
  if constexpr (std::same_as<T, float>) cblas_sscal(n, alpha, x, 1);
  else if constexpr (std::same_as<T, double>) cblas_dscal(n, alpha, x, 1);
  else if constexpr (std::same_as<T, std::complex<float>>) cblas_cscal(n, &alpha, x, 1);
  else cblas_zscal(n, &alpha, x, 1);
}

/// y ← α x + y
template <Scalar T>
void axpy(int n, T alpha, const T* x, T* y) {
  if constexpr (std::same_as<T, float>) cblas_saxpy(n, alpha, x, 1, y, 1);
  else if constexpr (std::same_as<T, double>) cblas_daxpy(n, alpha, x, 1, y, 1);
  else if constexpr (std::same_as<T, std::complex<float>>) cblas_caxpy(n, &alpha, x, 1, y, 1);
  else cblas_zaxpy(n, &alpha, x, 1, y, 1);
}

/// Threads that one call of the host BLAS uses. Both are no-ops on a CBLAS that is not OpenBLAS.
int threads();
void set_threads(int count);

}  // namespace tessera::host
