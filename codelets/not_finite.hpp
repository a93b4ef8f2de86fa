// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <tessera/types.hpp>

#include "devices/kernel_tile.hpp"

/// Factorizations of tiles with infinite or NaN elements. An optimized LAPACK may lose such values: it may multiply by
/// 1/∞ = 0 without looking at the other factor, or choose pivots with instructions that handle NaN in a special way.
/// The result, and the info, would then depend on the tiles.
namespace tessera::codelets {

using device::element;
using device::Tile;

/// Whether none of `count` contiguous elements is infinite or NaN.
template <Scalar T>
bool all_finite(Index count, const T* x) {
  using Bits = std::conditional_t<sizeof(Real<T>) == sizeof(float), std::uint32_t, std::uint64_t>;
  constexpr auto exponent = std::bit_cast<Bits>(std::numeric_limits<Real<T>>::infinity());
  constexpr Bits one = exponent & (~exponent + 1);  // the lowest bit of the exponent
  const auto* const parts = reinterpret_cast<const Real<T>*>(x);
  Bits all = 0;  // the sum reaches the sign bit only if all exponent bits are set; branch-free, for vectorization
  for (Index i = 0; i < count * static_cast<Index>(sizeof(T) / sizeof(Real<T>)); i++)
    all |= (std::bit_cast<Bits>(parts[i]) & exponent) + one;
  return all >> (sizeof(Bits) * 8 - 1) == 0;
}

template <Scalar T>
bool all_finite(const Tile<const T>& A) {
  for (int j = 0; j < A.n; j++)
    if (!all_finite(A.m, element(A, 0, j))) return false;
  return true;
}

/// The first row of a lower triangle, or column of an upper triangle, with an infinite element or NaN off the diagonal;
/// `n` if there is none. The leading minor that ends there is not positive, because the square of such an element is
/// subtracted from its diagonal. Elements on the diagonal may be infinite.
template <Scalar T>
int first_not_finite(Uplo uplo, const Tile<const T>& A) {
  int first = A.n;
  for (int j = 0; j < first; j++) {
    const T* const x = uplo == Uplo::Lower ? element(A, j, j) + 1 : element(A, 0, j);
    const int count = uplo == Uplo::Lower ? first - j - 1 : j;
    if (all_finite(count, x)) continue;
    if (uplo == Uplo::Upper) return j;
    first = j + 1;
    while (all_finite(1, element(A, first, j))) first++;
  }
  return first;
}

/// a b by the textbook formula, as in Fortran, because the operator of C++ turns some NaN into infinities. `quotient`
/// does the same for a / b.
template <Scalar T>
T product(T a, T b) {
  if constexpr (is_complex<T>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else return a * b;
}
template <Scalar T>
T quotient(T a, T b) {
  if constexpr (is_complex<T>) {
    if (std::abs(b.imag()) <= std::abs(b.real())) {  // Smith's algorithm
      const auto ratio = b.imag() / b.real(), divisor = b.real() + b.imag() * ratio;
      return {(a.real() + a.imag() * ratio) / divisor, (a.imag() - a.real() * ratio) / divisor};
    }
    const auto ratio = b.real() / b.imag(), divisor = b.real() * ratio + b.imag();
    return {(a.real() * ratio + a.imag()) / divisor, (a.imag() * ratio - a.real()) / divisor};
  } else {
    return a / b;
  }
}

/// |Re| + |Im|, by which LAPACK chooses pivots.
template <Scalar T>
Real<T> pivot_magnitude(T x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

/// Sets the rows and columns from `first` on to NaN, after a pivot whose inverse is NaN, and sets their pivots.
template <Scalar T>
void spread_nan(const Tile<T>& A, int first, int* pivots) {
  constexpr auto nan = std::numeric_limits<Real<T>>::quiet_NaN();
  const T value = [] {
    if constexpr (is_complex<T>) return T{nan, nan};
    else return nan;
  }();
  for (int j = first - 1; j < A.n; j++)
    for (int i = first; i < A.m; i++) *element(A, i, j) = value;
  for (int i = first; i < std::min(A.m, A.n); i++) pivots[i] = i + 1;
}

/// A ← L U with P A = L U, like `device::cpu::getrf`, but column by column. Every product is computed, and NaN becomes
/// the pivot only if it is already in the pivot's row.
template <Scalar T>
int factorize_not_finite(const Tile<T>& A, int* pivots) {
  int info = 0;
  for (int k = 0; k < std::min(A.m, A.n); k++) {
    int p = k;
    for (int i = k + 1; i < A.m; i++)
      if (pivot_magnitude(*element(A, i, k)) > pivot_magnitude(*element(A, p, k))) p = i;
    pivots[k] = p + 1;
    const T pivot = *element(A, p, k);
    if (pivot == T{}) {
      if (info == 0) info = k + 1;
      continue;
    }
    if (p != k)
      for (int j = 0; j < A.n; j++) std::swap(*element(A, p, j), *element(A, k, j));
    if (std::isnan(pivot_magnitude(quotient(T(1), pivot)))) {
      spread_nan(A, k + 1, pivots);
      break;
    }
    for (int i = k + 1; i < A.m; i++) *element(A, i, k) = quotient(*element(A, i, k), pivot);
    for (int j = k + 1; j < A.n; j++) {
      const T u = *element(A, k, j);
      for (int i = k + 1; i < A.m; i++) *element(A, i, j) -= product(*element(A, i, k), u);
    }
  }
  return info;
}

}  // namespace tessera::codelets
