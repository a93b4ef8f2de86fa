// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include <tessera/types.hpp>

#include "blas/shapes.hpp"
#include "common/of_type.hpp"
#include "host_library.hpp"

/// Overloads of CBLAS's functions for the four types, column-major. No other file calls CBLAS.
namespace tessera::device::cpu {

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

// The routines of the BLAS, except gemmt.
#define ROUTINE(name, types, shape, Alpha, Beta)                                                                    \
  template <CONCEPT_##types T>                                                                                      \
  void name(SHAPE_##shape(POINTERS, int, T, blas::Alpha<T>, blas::Beta<T>)) {                                       \
    call(common::of_type<T>(OF_##types(cblas_s##name, cblas_d##name, cblas_c##name, cblas_z##name)), CblasColMajor, \
         SHAPE_##shape(PASS));                                                                                      \
  }
#define GEMMT(...)
#include "blas/routines.def"
#undef ROUTINE

/// x ← α x
template <Scalar T>
void scal(int n, T alpha, T* x) {
  if constexpr (!is_complex<T>)
    if (std::isnan(alpha)) return static_cast<void>(std::fill_n(x, n, alpha));  // OpenBLAS 0.3.21's sscal writes zeros
  call(common::of_type<T>(cblas_sscal, cblas_dscal, cblas_cscal, cblas_zscal), n, alpha, x, 1);
}

/// Multiplies a triangle of C by β if β is NaN, which OpenBLAS 0.3.21's updates of triangles lose in single precision.
/// @return  the factor by which the update still has to multiply
template <Scalar T, typename Beta>
Beta after_nan(Beta beta, Uplo uplo, int n, T* C, int ldc) {
  if (beta == beta) return beta;
  for (int j = 0; j < n; j++) {
    const int first = uplo == Uplo::Lower ? j : 0, end = uplo == Uplo::Lower ? n : j + 1;
    scal(end - first, T(beta), C + first + j * static_cast<Index>(ldc));
  }
  return Beta(1);
}

/// The index of an element with the largest |Re| + |Im|. @pre n > 0
template <Scalar T>
int largest(int n, const T* x) {
  const auto index = call(common::of_type<T>(cblas_isamax, cblas_idamax, cblas_icamax, cblas_izamax), n, x, 1);
  return std::min(static_cast<int>(index), n - 1);  // next to NaN, the index depends on the BLAS
}

/// Σ |Re| + |Im|
template <Scalar T>
Real<T> sum_of_magnitudes(int n, const T* x) {
  return call(common::of_type<T>(cblas_sasum, cblas_dasum, cblas_scasum, cblas_dzasum), n, x, 1);
}

/// The number of threads that a call of the host BLAS uses. If the CBLAS is not OpenBLAS, this and the next function
/// have no effect.
int threads();
void set_threads(int count);

}  // namespace tessera::device::cpu
