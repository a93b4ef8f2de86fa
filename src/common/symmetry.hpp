// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>

#include <tessera/types.hpp>

namespace tessera::common {

/// The operation that maps a symmetric or Hermitian matrix to itself. It converts one triangle into the other.
constexpr Op symmetry(bool hermitian) { return hermitian ? Op::ConjTrans : Op::Trans; }

/// The operation of the second factor in op(A) op(A)ᵀ or op(A) op(A)ᴴ.
constexpr Op other_factor(bool hermitian, Op op) { return op == Op::NoTrans ? symmetry(hermitian) : Op::NoTrans; }

template <Scalar T>
T conjugated_if(bool conjugate, T x) {
  if constexpr (is_complex<T>) return conjugate ? std::conj(x) : x;
  else return x;
}

}  // namespace tessera::common
