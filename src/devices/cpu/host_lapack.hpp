// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

#include <tessera/types.hpp>

#include "common/of_type.hpp"

// LAPACK's functions for elements of type T.
#define LAPACK_FUNCTIONS(letter, T)                                                                                    \
  void letter##potrf_(const char* uplo, const int* n, T* A, const int* lda, int* info);                                \
  void letter##posv_(const char* uplo, const int* n, const int* nrhs, T* A, const int* lda, T* B, const int* ldb,      \
                     int* info);                                                                                       \
  void letter##getrf_(const int* m, const int* n, T* A, const int* lda, int* ipiv, int* info);                         \
  void letter##laswp_(const int* n, T* A, const int* lda, const int* k1, const int* k2, const int* ipiv,               \
                      const int* incx);                                                                                \
  void letter##gesv_(const int* n, const int* nrhs, T* A, const int* lda, int* ipiv, T* B, const int* ldb, int* info); \
  void letter##trtri_(const char* uplo, const char* diag, const int* n, T* A, const int* lda, int* info);              \
  void letter##lauum_(const char* uplo, const int* n, T* A, const int* lda, int* info);                                \
  void letter##potri_(const char* uplo, const int* n, T* A, const int* lda, int* info);                                \
  void letter##getri_(const int* n, T* A, const int* lda, const int* ipiv, T* work, const int* lwork, int* info);      \
  void letter##geqrf_(const int* m, const int* n, T* A, const int* lda, T* tau, T* work, const int* lwork, int* info); \
  void letter##gels_(const char* op, const int* m, const int* n, const int* nrhs, T* A, const int* lda, T* B,          \
                     const int* ldb, T* work, const int* lwork, int* info);
extern "C" {
LAPACK_FUNCTIONS(s, float)
LAPACK_FUNCTIONS(d, double)
LAPACK_FUNCTIONS(c, std::complex<float>)
LAPACK_FUNCTIONS(z, std::complex<double>)
}
#undef LAPACK_FUNCTIONS

/// Overloads of LAPACK's functions for the four types, column-major. No other file calls LAPACK.
namespace tessera::device::cpu {

// Pointers with the names of LAPACK, to functions of the OpenBLAS that Tessera was built with.
#define FUNCTION(name) extern decltype(&::name) name;
#include "host_lapack.def"
#undef FUNCTION

/// Calls a function, and returns its info. LAPACK takes numbers and options by address.
int info_of(auto function, auto... x) {
  const auto argument = []<typename X>(const X& any) {
    if constexpr (std::is_pointer_v<X>) return any;
    else return &any;
  };
  int info = 0;
  function(argument(x)..., &info);
  return info;
}
inline char letter(Uplo uplo) { return uplo == Uplo::Lower ? 'L' : 'U'; }
inline char letter(Diag diag) { return diag == Diag::Unit ? 'U' : 'N'; }

/// A triangle of A ← its Cholesky factor: L with A = L Lᴴ (Lower), U with A = Uᴴ U (Upper).
/// @return  0, or the order of the first leading minor that is not positive
template <Scalar T>
int potrf(Uplo uplo, int n, T* A, int lda) {
  return info_of(common::of_type<T>(spotrf_, dpotrf_, cpotrf_, zpotrf_), letter(uplo), n, A, lda);
}

/// Factorizes A like `potrf`, and computes B ← A⁻¹ B if A has a factor.
template <Scalar T>
int posv(Uplo uplo, int n, int nrhs, T* A, int lda, T* B, int ldb) {
  return info_of(common::of_type<T>(sposv_, dposv_, cposv_, zposv_), letter(uplo), n, nrhs, A, lda, B, ldb);
}

/// A ← L U with P A = L U.
/// @return  0, or the first i with U(i, i) = 0
template <Scalar T>
int getrf(int m, int n, T* A, int lda, int* pivots) {
  return info_of(common::of_type<T>(sgetrf_, dgetrf_, cgetrf_, zgetrf_), m, n, A, lda, pivots);
}

/// Exchanges row i of A with row pivots[i - 1], counted from 1, for i from 1 to `count`; in reverse order if `step` is
/// -1.
template <Scalar T>
void laswp(int n, T* A, int lda, int count, const int* pivots, int step) {
  const int first = 1;
  common::of_type<T>(slaswp_, dlaswp_, claswp_, zlaswp_)(&n, A, &lda, &first, &count, pivots, &step);
}

/// Factorizes A, of order n, like `getrf`, and computes B ← A⁻¹ B if U is not singular.
template <Scalar T>
int gesv(int n, int nrhs, T* A, int lda, int* pivots, T* B, int ldb) {
  return info_of(common::of_type<T>(sgesv_, dgesv_, cgesv_, zgesv_), n, nrhs, A, lda, pivots, B, ldb);
}

/// The rows whose diagonal element has a real part of NaN. OpenBLAS 0.3.21 loses these NaN in single precision: its
/// sscal by NaN writes zeros.
template <Scalar T>
std::vector<int> nan_on_diagonal(int n, const T* A, int lda) {
  std::vector<int> rows;
  for (int i = 0; i < n; i++)
    if (std::isnan(std::real(A[i + i * static_cast<Index>(lda)]))) rows.push_back(i);
  return rows;
}

/// Lower: rows [first, end) of columns [0, first] ← NaN. Upper: the transposed part.
template <Scalar T>
void spread_nan(Uplo uplo, int first, int end, T* A, int lda) {
  for (Index i = first; i < end; i++)
    for (Index j = 0; j <= first; j++)
      A[uplo == Uplo::Lower ? i + j * lda : j + i * lda] = T(std::numeric_limits<Real<T>>::quiet_NaN());
}

/// A triangle of A ← its inverse.
/// @return  0, or the first i with A(i, i) = 0; A is then unchanged
template <Scalar T>
int trtri(Uplo uplo, Diag diag, int n, T* A, int lda) {
  const auto lost = diag == Diag::NonUnit ? nan_on_diagonal(n, A, lda) : std::vector<int>();
  const int info =
      info_of(common::of_type<T>(strtri_, dtrtri_, ctrtri_, ztrtri_), letter(uplo), letter(diag), n, A, lda);
  if (info == 0)
    for (const int i : lost) spread_nan(uplo, i, n, A, lda);
  return info;
}

/// A triangle of A ← Lᴴ L (Lower) or U Uᴴ (Upper).
template <Scalar T>
void lauum(Uplo uplo, int n, T* A, int lda) {
  const auto lost = nan_on_diagonal(n, A, lda);
  info_of(common::of_type<T>(slauum_, dlauum_, clauum_, zlauum_), letter(uplo), n, A, lda);
  for (const int i : lost) spread_nan(uplo, i, i + 1, A, lda);
}

/// A triangle of A ← the inverse of the matrix whose factor `potrf` has computed.
/// @return  0, or the first i with A(i, i) = 0; A is then unchanged
template <Scalar T>
int potri(Uplo uplo, int n, T* A, int lda) {
  return info_of(common::of_type<T>(spotri_, dpotri_, cpotri_, zpotri_), letter(uplo), n, A, lda);
}

/// A ← the inverse of the matrix whose factors `getrf` has computed.
/// @param work  has `elements` elements; n is enough, more is faster. If `elements` is -1, work[0] ← the best number
/// @return      0, or the first i with U(i, i) = 0; A is then unchanged
template <Scalar T>
int getri(int n, T* A, int lda, const int* pivots, T* work, int elements) {
  return info_of(common::of_type<T>(sgetri_, dgetri_, cgetri_, zgetri_), n, A, lda, pivots, work, elements);
}

/// A ← R on and above the diagonal, and the reflectors below it; tau ← their scalar factors.
/// @param work  has `elements` elements; n is enough, more is faster. If `elements` is -1, work[0] ← the best number
template <Scalar T>
void geqrf(int m, int n, T* A, int lda, T* tau, T* work, int elements) {
  info_of(common::of_type<T>(sgeqrf_, dgeqrf_, cgeqrf_, zgeqrf_), m, n, A, lda, tau, work, elements);
}

/// Replaces B by the X that minimizes the norm of op(A) X − B or, if several X solve the system, by the X with the
/// smallest norm. A must have full rank, and is replaced by its factors.
/// @param op    for a complex A, the adjoint instead of the transpose
/// @param work  has `elements` elements; if `elements` is -1, work[0] ← the best number
/// @return      0, or the first i for which the triangular factor of A has a zero at (i, i)
template <Scalar T>
int gels(Op op, int m, int n, int nrhs, T* A, int lda, T* B, int ldb, T* work, int elements) {
  const char transposed = op == Op::NoTrans ? 'N' : is_complex<T> ? 'C' : 'T';
  return info_of(common::of_type<T>(sgels_, dgels_, cgels_, zgels_), transposed, m, n, nrhs, A, lda, B, ldb, work,
                 elements);
}

}  // namespace tessera::device::cpu
