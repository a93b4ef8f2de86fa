// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "common/of_type.hpp"

extern "C" {
void spotrf_(const char* uplo, const int* n, float* A, const int* lda, int* info);
void dpotrf_(const char* uplo, const int* n, double* A, const int* lda, int* info);
void cpotrf_(const char* uplo, const int* n, std::complex<float>* A, const int* lda, int* info);
void zpotrf_(const char* uplo, const int* n, std::complex<double>* A, const int* lda, int* info);
void sposv_(const char* uplo, const int* n, const int* nrhs, float* A, const int* lda, float* B, const int* ldb,
            int* info);
void dposv_(const char* uplo, const int* n, const int* nrhs, double* A, const int* lda, double* B, const int* ldb,
            int* info);
void cposv_(const char* uplo, const int* n, const int* nrhs, std::complex<float>* A, const int* lda,
            std::complex<float>* B, const int* ldb, int* info);
void zposv_(const char* uplo, const int* n, const int* nrhs, std::complex<double>* A, const int* lda,
            std::complex<double>* B, const int* ldb, int* info);
void sgetrf_(const int* m, const int* n, float* A, const int* lda, int* ipiv, int* info);
void slaswp_(const int* n, float* A, const int* lda, const int* k1, const int* k2, const int* ipiv, const int* incx);
void sgesv_(const int* n, const int* nrhs, float* A, const int* lda, int* ipiv, float* B, const int* ldb, int* info);
void dgetrf_(const int* m, const int* n, double* A, const int* lda, int* ipiv, int* info);
void dlaswp_(const int* n, double* A, const int* lda, const int* k1, const int* k2, const int* ipiv, const int* incx);
void dgesv_(const int* n, const int* nrhs, double* A, const int* lda, int* ipiv, double* B, const int* ldb, int* info);
void cgetrf_(const int* m, const int* n, std::complex<float>* A, const int* lda, int* ipiv, int* info);
void claswp_(const int* n, std::complex<float>* A, const int* lda, const int* k1, const int* k2, const int* ipiv,
             const int* incx);
void cgesv_(const int* n, const int* nrhs, std::complex<float>* A, const int* lda, int* ipiv, std::complex<float>* B,
            const int* ldb, int* info);
void zgetrf_(const int* m, const int* n, std::complex<double>* A, const int* lda, int* ipiv, int* info);
void zlaswp_(const int* n, std::complex<double>* A, const int* lda, const int* k1, const int* k2, const int* ipiv,
             const int* incx);
void zgesv_(const int* n, const int* nrhs, std::complex<double>* A, const int* lda, int* ipiv, std::complex<double>* B,
            const int* ldb, int* info);
void strtri_(const char* uplo, const char* diag, const int* n, float* A, const int* lda, int* info);
void slauum_(const char* uplo, const int* n, float* A, const int* lda, int* info);
void spotri_(const char* uplo, const int* n, float* A, const int* lda, int* info);
void sgetri_(const int* n, float* A, const int* lda, const int* ipiv, float* work, const int* lwork, int* info);
void dtrtri_(const char* uplo, const char* diag, const int* n, double* A, const int* lda, int* info);
void dlauum_(const char* uplo, const int* n, double* A, const int* lda, int* info);
void dpotri_(const char* uplo, const int* n, double* A, const int* lda, int* info);
void dgetri_(const int* n, double* A, const int* lda, const int* ipiv, double* work, const int* lwork, int* info);
void ctrtri_(const char* uplo, const char* diag, const int* n, std::complex<float>* A, const int* lda, int* info);
void clauum_(const char* uplo, const int* n, std::complex<float>* A, const int* lda, int* info);
void cpotri_(const char* uplo, const int* n, std::complex<float>* A, const int* lda, int* info);
void cgetri_(const int* n, std::complex<float>* A, const int* lda, const int* ipiv, std::complex<float>* work,
             const int* lwork, int* info);
void ztrtri_(const char* uplo, const char* diag, const int* n, std::complex<double>* A, const int* lda, int* info);
void zlauum_(const char* uplo, const int* n, std::complex<double>* A, const int* lda, int* info);
void zpotri_(const char* uplo, const int* n, std::complex<double>* A, const int* lda, int* info);
void zgetri_(const int* n, std::complex<double>* A, const int* lda, const int* ipiv, std::complex<double>* work,
             const int* lwork, int* info);
void sgeqrf_(const int* m, const int* n, float* A, const int* lda, float* tau, float* work, const int* lwork,
             int* info);
void sgels_(const char* op, const int* m, const int* n, const int* nrhs, float* A, const int* lda, float* B,
            const int* ldb, float* work, const int* lwork, int* info);
void dgeqrf_(const int* m, const int* n, double* A, const int* lda, double* tau, double* work, const int* lwork,
             int* info);
void dgels_(const char* op, const int* m, const int* n, const int* nrhs, double* A, const int* lda, double* B,
            const int* ldb, double* work, const int* lwork, int* info);
void cgeqrf_(const int* m, const int* n, std::complex<float>* A, const int* lda, std::complex<float>* tau,
             std::complex<float>* work, const int* lwork, int* info);
void cgels_(const char* op, const int* m, const int* n, const int* nrhs, std::complex<float>* A, const int* lda,
            std::complex<float>* B, const int* ldb, std::complex<float>* work, const int* lwork, int* info);
void zgeqrf_(const int* m, const int* n, std::complex<double>* A, const int* lda, std::complex<double>* tau,
             std::complex<double>* work, const int* lwork, int* info);
void zgels_(const char* op, const int* m, const int* n, const int* nrhs, std::complex<double>* A, const int* lda,
            std::complex<double>* B, const int* ldb, std::complex<double>* work, const int* lwork, int* info);
}

/// Overloads of LAPACK's functions for the four types, column-major. No other file calls LAPACK.
namespace tessera::host {

// Pointers with the names of LAPACK, to functions of the OpenBLAS that Tessera was built with.
#define FUNCTION(name) extern decltype(&::name) name;
#include "host_lapack.def"
#undef FUNCTION

/// A triangle of A ← its Cholesky factor: L with A = L Lᴴ (Lower), U with A = Uᴴ U (Upper).
/// @return  0, or the order of the first leading minor that is not positive
template <Scalar T>
int potrf(Uplo uplo, int n, T* A, int lda) {
  const char triangle = uplo == Uplo::Lower ? 'L' : 'U';
  int info = 0;
  of_type<T>(spotrf_, dpotrf_, cpotrf_, zpotrf_)(&triangle, &n, A, &lda, &info);
  return info;
}

/// Factorizes A like `potrf`, and computes B ← A⁻¹ B if A has a factor.
template <Scalar T>
int posv(Uplo uplo, int n, int nrhs, T* A, int lda, T* B, int ldb) {
  const char triangle = uplo == Uplo::Lower ? 'L' : 'U';
  int info = 0;
  of_type<T>(sposv_, dposv_, cposv_, zposv_)(&triangle, &n, &nrhs, A, &lda, B, &ldb, &info);
  return info;
}

/// A ← L U with P A = L U.
/// @return  0, or the first i with U(i, i) = 0
template <Scalar T>
int getrf(int m, int n, T* A, int lda, int* pivots) {
  int info = 0;
  of_type<T>(sgetrf_, dgetrf_, cgetrf_, zgetrf_)(&m, &n, A, &lda, pivots, &info);
  return info;
}

/// Exchanges row i of A with row pivots[i - 1], counted from 1, for i from 1 to `count`; in reverse order if `step` is
/// -1.
template <Scalar T>
void laswp(int n, T* A, int lda, int count, const int* pivots, int step) {
  const int first = 1;
  of_type<T>(slaswp_, dlaswp_, claswp_, zlaswp_)(&n, A, &lda, &first, &count, pivots, &step);
}

/// Factorizes A, of order n, like `getrf`, and computes B ← A⁻¹ B if U is not singular.
template <Scalar T>
int gesv(int n, int nrhs, T* A, int lda, int* pivots, T* B, int ldb) {
  int info = 0;
  of_type<T>(sgesv_, dgesv_, cgesv_, zgesv_)(&n, &nrhs, A, &lda, pivots, B, &ldb, &info);
  return info;
}

/// A triangle of A ← its inverse.
/// @return  0, or the first i with A(i, i) = 0; A is then unchanged
template <Scalar T>
int trtri(Uplo uplo, Diag diag, int n, T* A, int lda) {
  const char triangle = uplo == Uplo::Lower ? 'L' : 'U', diagonal = diag == Diag::Unit ? 'U' : 'N';
  int info = 0;
  of_type<T>(strtri_, dtrtri_, ctrtri_, ztrtri_)(&triangle, &diagonal, &n, A, &lda, &info);
  return info;
}

/// A triangle of A ← Lᴴ L (Lower) or U Uᴴ (Upper).
template <Scalar T>
void lauum(Uplo uplo, int n, T* A, int lda) {
  const char triangle = uplo == Uplo::Lower ? 'L' : 'U';
  int info = 0;
  of_type<T>(slauum_, dlauum_, clauum_, zlauum_)(&triangle, &n, A, &lda, &info);
}

/// A triangle of A ← the inverse of the matrix whose factor `potrf` has computed.
/// @return  0, or the first i with A(i, i) = 0; A is then unchanged
template <Scalar T>
int potri(Uplo uplo, int n, T* A, int lda) {
  const char triangle = uplo == Uplo::Lower ? 'L' : 'U';
  int info = 0;
  of_type<T>(spotri_, dpotri_, cpotri_, zpotri_)(&triangle, &n, A, &lda, &info);
  return info;
}

/// A ← the inverse of the matrix whose factors `getrf` has computed.
/// @param work  has `elements` elements; n is enough, more is faster. If `elements` is -1, work[0] ← the best number
/// @return      0, or the first i with U(i, i) = 0; A is then unchanged
template <Scalar T>
int getri(int n, T* A, int lda, const int* pivots, T* work, int elements) {
  int info = 0;
  of_type<T>(sgetri_, dgetri_, cgetri_, zgetri_)(&n, A, &lda, pivots, work, &elements, &info);
  return info;
}

/// A ← R on and above the diagonal, and the reflectors below it; tau ← their scalar factors.
/// @param work  has `elements` elements; n is enough, more is faster. If `elements` is -1, work[0] ← the best number
template <Scalar T>
void geqrf(int m, int n, T* A, int lda, T* tau, T* work, int elements) {
  int info = 0;
  of_type<T>(sgeqrf_, dgeqrf_, cgeqrf_, zgeqrf_)(&m, &n, A, &lda, tau, work, &elements, &info);
}

/// Replaces B by the X that minimizes the norm of op(A) X − B or, if several X solve the system, by the X with the
/// smallest norm. A must have full rank, and is replaced by its factors.
/// @param op    for a complex A, the adjoint instead of the transpose
/// @param work  has `elements` elements; if `elements` is -1, work[0] ← the best number
/// @return      0, or the first i for which the triangular factor of A has a zero at (i, i)
template <Scalar T>
int gels(Op op, int m, int n, int nrhs, T* A, int lda, T* B, int ldb, T* work, int elements) {
  const char transposed = op == Op::NoTrans ? 'N' : is_complex<T> ? 'C' : 'T';
  int info = 0;
  of_type<T>(sgels_, dgels_, cgels_, zgels_)(&transposed, &m, &n, &nrhs, A, &lda, B, &ldb, work, &elements, &info);
  return info;
}

}  // namespace tessera::host
