// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublasXt.h>

#include <tessera/types.hpp>

/// cuBLAS-XT: one overload set over the four types. Only built with CUDA.
namespace tessera::bench::xt {

/// @throws RuntimeError naming the routine
void require(cublasStatus_t status, const char* what);

inline cublasOperation_t operation(Op op) {
  return op == Op::NoTrans ? CUBLAS_OP_N : op == Op::Trans ? CUBLAS_OP_T : CUBLAS_OP_C;
}

template <Scalar T>
void gemm(cublasXtHandle_t handle, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda,
          const T* B, Index ldb, T beta, T* C, Index ldc) {
  const auto call = [&]<typename V>(auto function, V) {
    const auto size = [](Index i) { return static_cast<std::size_t>(i); };
    require(function(handle, operation(op_a), operation(op_b), size(m), size(n), size(k), reinterpret_cast<V*>(&alpha),
                     reinterpret_cast<const V*>(A), size(lda), reinterpret_cast<const V*>(B), size(ldb),
                     reinterpret_cast<V*>(&beta), reinterpret_cast<V*>(C), size(ldc)),
            "cuBLAS-XT gemm");
  };
  if constexpr (std::same_as<T, float>) call(cublasXtSgemm, float{});
  else if constexpr (std::same_as<T, double>) call(cublasXtDgemm, double{});
  else if constexpr (std::same_as<T, std::complex<float>>) call(cublasXtCgemm, cuComplex{});
  else call(cublasXtZgemm, cuDoubleComplex{});
}

}  // namespace tessera::bench::xt
