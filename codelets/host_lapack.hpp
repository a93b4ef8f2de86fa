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
}

/// The only calls of LAPACK: one overload set over the four types, column-major.
namespace tessera::host {

/// A triangle of A ← its Cholesky factor: L with A = L Lᴴ (Lower), U with A = Uᴴ U (Upper).
/// @return  0, or the order of the first leading minor that is not positive
template <Scalar T>
int potrf(Uplo uplo, int n, T* A, int lda) {
  const char triangle = uplo == Uplo::Lower ? 'L' : 'U';
  int info = 0;
  of_type<T>(spotrf_, dpotrf_, cpotrf_, zpotrf_)(&triangle, &n, A, &lda, &info);
  return info;
}

/// As `potrf`, and B ← A⁻¹ B if A has a factor.
template <Scalar T>
int posv(Uplo uplo, int n, int nrhs, T* A, int lda, T* B, int ldb) {
  const char triangle = uplo == Uplo::Lower ? 'L' : 'U';
  int info = 0;
  of_type<T>(sposv_, dposv_, cposv_, zposv_)(&triangle, &n, &nrhs, A, &lda, B, &ldb, &info);
  return info;
}

}  // namespace tessera::host
