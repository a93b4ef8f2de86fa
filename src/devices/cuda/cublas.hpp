// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>

#include <tessera/types.hpp>

#include "blas/shapes.hpp"
#include "common/not_copyable.hpp"
#include "common/of_type.hpp"

/// Overloads of cuBLAS's functions for the four types, column-major, with scalars in host memory. No other file calls
/// cuBLAS.
namespace tessera::device::cuda {

inline cublasOperation_t cublas(Op op) {
  return op == Op::NoTrans ? CUBLAS_OP_N : op == Op::Trans ? CUBLAS_OP_T : CUBLAS_OP_C;
}
inline cublasFillMode_t cublas(Uplo uplo) {
  return uplo == Uplo::Lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}
inline cublasSideMode_t cublas(Side side) { return side == Side::Left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT; }
inline cublasDiagType_t cublas(Diag diag) { return diag == Diag::Unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT; }

/// Pointers to elements, cast to cuBLAS's types.
inline auto* cublas(float* x) { return x; }
inline auto* cublas(double* x) { return x; }
inline auto* cublas(std::complex<float>* x) { return reinterpret_cast<cuComplex*>(x); }
inline auto* cublas(std::complex<double>* x) { return reinterpret_cast<cuDoubleComplex*>(x); }
inline const auto* cublas(const float* x) { return x; }
inline const auto* cublas(const double* x) { return x; }
inline const auto* cublas(const std::complex<float>* x) { return reinterpret_cast<const cuComplex*>(x); }
inline const auto* cublas(const std::complex<double>* x) { return reinterpret_cast<const cuDoubleComplex*>(x); }

/// An argument as cuBLAS and cuSOLVER take it: scalars by address.
template <typename X>
auto argument(const X& x) {
  if constexpr (Scalar<X>) return cublas(&x);
  else if constexpr (requires { cublas(x); }) return cublas(x);
  else return x;
}
auto call(auto function, const auto&... x) { return function(argument(x)...); }

/// Calls a function of the BLAS, whose last two arguments are the output. In cuBLAS, trmm has another output than B;
/// here it works in place.
auto call_blas(auto function, const auto&... x) {
  if constexpr (std::is_invocable_v<decltype(function), decltype(argument(x))...>) {
    return call(function, x...);
  } else {
    constexpr auto last = sizeof...(x) - 1;
    const auto all = std::tie(x...);
    return call(function, x..., std::get<last - 1>(all), std::get<last>(all));
  }
}

// The routines of the BLAS, except gemmt.
#define ROUTINE(name, types, shape, Alpha, Beta)                                                                 \
  template <CONCEPT_##types T>                                                                                   \
  cublasStatus_t name(cublasHandle_t handle, SHAPE_##shape(POINTERS, int, T, blas::Alpha<T>, blas::Beta<T>)) {   \
    return call_blas(common::of_type<T>(OF_##types(cublasS##name, cublasD##name, cublasC##name, cublasZ##name)), \
                     handle, SHAPE_##shape(PASS));                                                               \
  }
#define GEMMT(...)
#include "blas/routines.def"
#undef ROUTINE

/// C ← α A B + β C for `count` triples of matrices. The arrays of pointers are in device memory.
template <Scalar T>
cublasStatus_t gemm_batched(cublasHandle_t handle, int m, int n, int k, T alpha, const T* const* A, int lda,
                            const T* const* B, int ldb, T beta, T* const* C, int ldc, int count) {
  using U = std::remove_pointer_t<decltype(cublas(static_cast<T*>(nullptr)))>;
  return call(common::of_type<T>(cublasSgemmBatched, cublasDgemmBatched, cublasCgemmBatched, cublasZgemmBatched),
              handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, alpha, reinterpret_cast<const U* const*>(A), lda,
              reinterpret_cast<const U* const*>(B), ldb, beta, reinterpret_cast<U* const*>(C), ldc, count);
}

/// C ← α op(A) B or α B op(A), where C is not B. This is several times as fast as the operation in place, in which
/// cuBLAS must compute the rows one after another.
template <Scalar T>
cublasStatus_t trmm(cublasHandle_t handle, Side side, Uplo uplo, Op op, Diag diag, int m, int n, T alpha, const T* A,
                    int lda, const T* B, int ldb, T* C, int ldc) {
  return call(common::of_type<T>(cublasStrmm, cublasDtrmm, cublasCtrmm, cublasZtrmm), handle, side, uplo, op, diag, m,
              n, alpha, A, lda, B, ldb, C, ldc);
}

/// While this object exists, reductions on the handle write their results to device or pinned memory in stream order,
/// instead of waiting for the stream. Use it only for reductions: other operations would look for their scalars in
/// device memory.
class ResultsInMemory : common::NotCopyable {
 public:
  explicit ResultsInMemory(cublasHandle_t handle) : handle_(handle) {
    cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE);
  }
  ~ResultsInMemory() { cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_HOST); }

 private:
  cublasHandle_t handle_;
};

/// A reduction: *index ← the index, counted from 1, of an element with the largest |Re| + |Im|.
template <Scalar T>
cublasStatus_t largest(cublasHandle_t handle, int n, const T* x, int* index) {
  return call(common::of_type<T>(cublasIsamax, cublasIdamax, cublasIcamax, cublasIzamax), handle, n, x, 1, index);
}

/// A reduction: *sum ← Σ |Re| + |Im|.
template <Scalar T>
cublasStatus_t sum_of_magnitudes(cublasHandle_t handle, int n, const T* x, Real<T>* sum) {
  return call(common::of_type<T>(cublasSasum, cublasDasum, cublasScasum, cublasDzasum), handle, n, x, 1, sum);
}

/// y ← n elements of x, `step` apart; in y, they are `y_step` apart. A kernel, so y may be in pinned memory.
template <Scalar T>
cublasStatus_t copy(cublasHandle_t handle, int n, const T* x, Index step, T* y, Index y_step = 1) {
  const auto copy_some = [&](int count, const T* from, int apart, T* to, int to_apart) {
    return call(common::of_type<T>(cublasScopy, cublasDcopy, cublasCcopy, cublasZcopy), handle, count, from, apart, to,
                to_apart);
  };
  if (std::max(step, y_step) <= std::numeric_limits<int>::max())
    return copy_some(n, x, static_cast<int>(step), y, static_cast<int>(y_step));
  auto status = CUBLAS_STATUS_SUCCESS;  // so far apart, only a few elements fit in memory
  for (Index i = 0; i < n && status == CUBLAS_STATUS_SUCCESS; i++)
    status = copy_some(1, x + i * step, 1, y + i * y_step, 1);
  return status;
}

/// x ↔ y, columns of n elements
template <Scalar T>
cublasStatus_t swap(cublasHandle_t handle, int n, T* x, T* y) {
  return call(common::of_type<T>(cublasSswap, cublasDswap, cublasCswap, cublasZswap), handle, n, x, 1, y, 1);
}

/// C ← α A + β B; C may be A or B. An operand whose factor is 0 is not read.
template <Scalar T>
cublasStatus_t geam(cublasHandle_t handle, int m, int n, T alpha, const T* A, int lda, T beta, const T* B, int ldb,
                    T* C, int ldc) {
  constexpr auto N = CUBLAS_OP_N;
  return call(common::of_type<T>(cublasSgeam, cublasDgeam, cublasCgeam, cublasZgeam), handle, N, N, m, n, alpha, A, lda,
              beta, B, ldb, C, ldc);
}

/// C ← D + β C
template <Scalar T>
cublasStatus_t add(cublasHandle_t handle, int m, int n, const T* D, int ldd, T beta, T* C, int ldc) {
  return geam(handle, m, n, T(1), D, ldd, beta, C, ldc, C, ldc);
}

/// B ← α A; B may be A.
template <Scalar T>
cublasStatus_t scale(cublasHandle_t handle, int m, int n, T alpha, const T* A, int lda, T* B, int ldb) {
  return geam(handle, m, n, alpha, A, lda, T{}, A, lda, B, ldb);
}

/// B ← Aᵀ, m×n
template <Scalar T>
cublasStatus_t transpose(cublasHandle_t handle, int m, int n, const T* A, int lda, T* B, int ldb) {
  const T one(1), zero{};
  return call(common::of_type<T>(cublasSgeam, cublasDgeam, cublasCgeam, cublasZgeam), handle, CUBLAS_OP_T, CUBLAS_OP_N,
              m, n, one, A, lda, zero, B, ldb, B, ldb);
}

/// packed ← the n (n + 1) / 2 elements of the triangle `uplo` of A
template <Scalar T>
cublasStatus_t pack_triangle(cublasHandle_t handle, Uplo uplo, int n, const T* A, int lda, T* packed) {
  return call(common::of_type<T>(cublasStrttp, cublasDtrttp, cublasCtrttp, cublasZtrttp), handle, uplo, n, A, lda,
              packed);
}

/// Copies the triangle `uplo` of A to C.
/// @param packed  workspace of n (n + 1) / 2 elements
template <Scalar T>
cublasStatus_t copy_triangle(cublasHandle_t handle, Uplo uplo, int n, const T* A, int lda, T* packed, T* C, int ldc) {
  const auto status = pack_triangle(handle, uplo, n, A, lda, packed);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return call(common::of_type<T>(cublasStpttr, cublasDtpttr, cublasCtpttr, cublasZtpttr), handle, uplo, n, packed, C,
              ldc);
}

}  // namespace tessera::device::cuda
