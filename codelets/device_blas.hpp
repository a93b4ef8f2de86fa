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

/// A ← α A in place, by geam with a second operand that is not read.
template <Scalar T>
cublasStatus_t scale(cublasHandle_t handle, int m, int n, T alpha, T* A, int lda) {
  T zero{};
  const auto geam = [&](auto function, auto* a, auto* factor, auto* nothing) {
    return function(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, factor, a, lda, nothing, a, lda, a, lda);
  };
  if constexpr (std::same_as<T, float>) {
    return geam(cublasSgeam, A, &alpha, &zero);
  } else if constexpr (std::same_as<T, double>) {
    return geam(cublasDgeam, A, &alpha, &zero);
  } else if constexpr (std::same_as<T, std::complex<float>>) {
    return geam(cublasCgeam, reinterpret_cast<cuComplex*>(A), reinterpret_cast<cuComplex*>(&alpha),
                reinterpret_cast<cuComplex*>(&zero));
  } else {
    return geam(cublasZgeam, reinterpret_cast<cuDoubleComplex*>(A), reinterpret_cast<cuDoubleComplex*>(&alpha),
                reinterpret_cast<cuDoubleComplex*>(&zero));
  }
}

}  // namespace tessera::device
