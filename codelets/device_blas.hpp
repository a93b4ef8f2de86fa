// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <tessera/types.hpp>

/// The only place that calls cuBLAS: one overload set over the four types. Scalars are on the host.
namespace tessera::device {

inline cublasOperation_t cublas_op(Op op) {
  return op == Op::NoTrans ? CUBLAS_OP_N : op == Op::Trans ? CUBLAS_OP_T : CUBLAS_OP_C;
}

template <Scalar T>
cublasStatus_t gemm(cublasHandle_t handle, Op op_a, Op op_b, int m, int n, int k, T alpha, const T* A, int lda,
                    const T* B, int ldb, T beta, T* C, int ldc) {
  const auto a = cublas_op(op_a), b = cublas_op(op_b);
  if constexpr (std::same_as<T, float>) {
    return cublasSgemm(handle, a, b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
  } else if constexpr (std::same_as<T, double>) {
    return cublasDgemm(handle, a, b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
  } else if constexpr (std::same_as<T, std::complex<float>>) {
    using V = cuComplex;
    return cublasCgemm(handle, a, b, m, n, k, reinterpret_cast<V*>(&alpha), reinterpret_cast<const V*>(A), lda,
                       reinterpret_cast<const V*>(B), ldb, reinterpret_cast<V*>(&beta), reinterpret_cast<V*>(C), ldc);
  } else {
    using V = cuDoubleComplex;
    return cublasZgemm(handle, a, b, m, n, k, reinterpret_cast<V*>(&alpha), reinterpret_cast<const V*>(A), lda,
                       reinterpret_cast<const V*>(B), ldb, reinterpret_cast<V*>(&beta), reinterpret_cast<V*>(C), ldc);
  }
}

/// C ← α A + β B; C may be A or B.
template <Scalar T>
cublasStatus_t geam(cublasHandle_t handle, int m, int n, T alpha, const T* A, int lda, T beta, const T* B, int ldb,
                    T* C, int ldc) {
  constexpr auto N = CUBLAS_OP_N;
  if constexpr (std::same_as<T, float>) {
    return cublasSgeam(handle, N, N, m, n, &alpha, A, lda, &beta, B, ldb, C, ldc);
  } else if constexpr (std::same_as<T, double>) {
    return cublasDgeam(handle, N, N, m, n, &alpha, A, lda, &beta, B, ldb, C, ldc);
  } else if constexpr (std::same_as<T, std::complex<float>>) {
    using V = cuComplex;
    return cublasCgeam(handle, N, N, m, n, reinterpret_cast<V*>(&alpha), reinterpret_cast<const V*>(A), lda,
                       reinterpret_cast<V*>(&beta), reinterpret_cast<const V*>(B), ldb, reinterpret_cast<V*>(C), ldc);
  } else {
    using V = cuDoubleComplex;
    return cublasZgeam(handle, N, N, m, n, reinterpret_cast<V*>(&alpha), reinterpret_cast<const V*>(A), lda,
                       reinterpret_cast<V*>(&beta), reinterpret_cast<const V*>(B), ldb, reinterpret_cast<V*>(C), ldc);
  }
}

/// A ← α A; the second operand, with factor 0, is not read.
template <Scalar T>
cublasStatus_t scale(cublasHandle_t handle, int m, int n, T alpha, T* A, int lda) {
  return geam(handle, m, n, alpha, A, lda, T{}, A, lda, A, lda);
}

/// C ← D + β C
template <Scalar T>
cublasStatus_t add(cublasHandle_t handle, int m, int n, const T* D, int ldd, T beta, T* C, int ldc) {
  return geam(handle, m, n, T(1), D, ldd, beta, C, ldc, C, ldc);
}

}  // namespace tessera::device
