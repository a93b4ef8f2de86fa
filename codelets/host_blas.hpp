// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cblas.h>

#include <algorithm>

#include <tessera/types.hpp>

#include "common/of_type.hpp"
#include "host_library.hpp"

/// Overloads of CBLAS's functions for the four types, column-major. No other file calls CBLAS.
namespace tessera::host {

// Pointers with the names of CBLAS, to functions of the OpenBLAS that Tessera was built with. The calls below use these
// pointers, because name lookup finds them before the global functions.
#define FUNCTION(name) extern decltype(&::name) name;
#include "host_blas.def"
#undef FUNCTION

inline CBLAS_TRANSPOSE cblas(Op op) {
  return op == Op::NoTrans ? CblasNoTrans : op == Op::Trans ? CblasTrans : CblasConjTrans;
}
inline CBLAS_UPLO cblas(Uplo uplo) { return uplo == Uplo::Lower ? CblasLower : CblasUpper; }
inline CBLAS_SIDE cblas(Side side) { return side == Side::Left ? CblasLeft : CblasRight; }
inline CBLAS_DIAG cblas(Diag diag) { return diag == Diag::Unit ? CblasUnit : CblasNonUnit; }

/// A scalar as CBLAS expects it: real scalars by value, complex ones by address.
template <Scalar T>
auto cblas(const T& x) {
  if constexpr (is_complex<T>) return &x;
  else return x;
}

auto call(auto function, const auto&... x) {
  const auto argument = [](const auto& any) {
    if constexpr (requires { cblas(any); }) return cblas(any);
    else return any;
  };
  return function(argument(x)...);
}

template <Scalar T>
void gemm(Op op_a, Op op_b, int m, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
          int ldc) {
  call(of_type<T>(cblas_sgemm, cblas_dgemm, cblas_cgemm, cblas_zgemm), CblasColMajor, op_a, op_b, m, n, k, alpha, A,
       lda, B, ldb, beta, C, ldc);
}

template <Scalar T>
void symm(Side side, Uplo uplo, int m, int n, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
          int ldc) {
  call(of_type<T>(cblas_ssymm, cblas_dsymm, cblas_csymm, cblas_zsymm), CblasColMajor, side, uplo, m, n, alpha, A, lda,
       B, ldb, beta, C, ldc);
}

template <ComplexScalar T>
void hemm(Side side, Uplo uplo, int m, int n, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
          int ldc) {
  call(of_type<T>(cblas_chemm, cblas_zhemm), CblasColMajor, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

template <Scalar T>
void syrk(Uplo uplo, Op op, int n, int k, T alpha, const T* A, int lda, T beta, T* C, int ldc) {
  call(of_type<T>(cblas_ssyrk, cblas_dsyrk, cblas_csyrk, cblas_zsyrk), CblasColMajor, uplo, op, n, k, alpha, A, lda,
       beta, C, ldc);
}

template <ComplexScalar T>
void herk(Uplo uplo, Op op, int n, int k, Real<T> alpha, const T* A, int lda, Real<T> beta, T* C, int ldc) {
  call(of_type<T>(cblas_cherk, cblas_zherk), CblasColMajor, uplo, op, n, k, alpha, A, lda, beta, C, ldc);
}

template <Scalar T>
void syr2k(Uplo uplo, Op op, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C, int ldc) {
  call(of_type<T>(cblas_ssyr2k, cblas_dsyr2k, cblas_csyr2k, cblas_zsyr2k), CblasColMajor, uplo, op, n, k, alpha, A, lda,
       B, ldb, beta, C, ldc);
}

template <ComplexScalar T>
void her2k(Uplo uplo, Op op, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, Real<T> beta, T* C,
           int ldc) {
  call(of_type<T>(cblas_cher2k, cblas_zher2k), CblasColMajor, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

template <Scalar T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, int m, int n, T alpha, const T* A, int lda, T* B, int ldb) {
  call(of_type<T>(cblas_strmm, cblas_dtrmm, cblas_ctrmm, cblas_ztrmm), CblasColMajor, side, uplo, op, diag, m, n, alpha,
       A, lda, B, ldb);
}

template <Scalar T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, int m, int n, T alpha, const T* A, int lda, T* B, int ldb) {
  call(of_type<T>(cblas_strsm, cblas_dtrsm, cblas_ctrsm, cblas_ztrsm), CblasColMajor, side, uplo, op, diag, m, n, alpha,
       A, lda, B, ldb);
}

/// x ← α x
template <Scalar T>
void scal(int n, T alpha, T* x) {
  call(of_type<T>(cblas_sscal, cblas_dscal, cblas_cscal, cblas_zscal), n, alpha, x, 1);
}

/// The index of an element with the largest |Re| + |Im|. @pre n > 0
template <Scalar T>
int largest(int n, const T* x) {
  const auto index = call(of_type<T>(cblas_isamax, cblas_idamax, cblas_icamax, cblas_izamax), n, x, 1);
  return std::min(static_cast<int>(index), n - 1);  // next to NaN, the index depends on the BLAS
}

/// Σ |Re| + |Im|
template <Scalar T>
Real<T> sum_of_magnitudes(int n, const T* x) {
  return call(of_type<T>(cblas_sasum, cblas_dasum, cblas_scasum, cblas_dzasum), n, x, 1);
}

/// The number of threads that a call of the host BLAS uses. If the CBLAS is not OpenBLAS, this and the next function
/// have no effect.
int threads();
void set_threads(int count);

}  // namespace tessera::host
