// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>  // STARPU_SIMGRID

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include <tessera/types.hpp>

#include "common/columns.hpp"

/// Matrices whose elements are near overflow or underflow, on pointers.
namespace tessera::detail {

/// Calls visit(column) for all columns of A, on several threads if it is large.
template <Scalar T>
void for_columns_of(Index m, Index n, T* A, Index lda, auto visit) {
  for_columns(n, static_cast<double>(m) * static_cast<double>(n) * sizeof(T), [&](Index first, Index last) {
    for (Index j = first; j < last; j++) visit(std::span(A + j * lda, static_cast<std::size_t>(m)));
  });
}

/// The largest magnitude(x) of an element; NaN if there is one.
template <Scalar T>
Real<T> largest(Index m, Index n, T* A, Index lda, auto magnitude) {
  using Bits = std::conditional_t<sizeof(Real<T>) == 4, std::uint32_t, std::uint64_t>;
  std::atomic<Bits> largest = 0;
  for_columns_of(m, n, A, lda, [&](std::span<const T> column) {
    Bits most = 0;  // the bits of magnitudes have the order of their values, and those of NaN come last
    for (const T& x : column) most = std::max(most, std::bit_cast<Bits>(magnitude(x)));
    Bits before = largest;
    while (before < most && !largest.compare_exchange_weak(before, most)) {
    }
  });
  return std::bit_cast<Real<T>>(largest.load());
}

/// A ← factor A
template <Scalar T>
void scale(Index m, Index n, T* A, Index lda, Real<T> factor) {
  if (factor != 1)
    for_columns_of(m, n, A, lda, [&](std::span<T> column) {
      for (T& x : column) x *= factor;
    });
}

template <typename R>
struct Scaling {
  R norm;    ///< of the matrix before
  R factor;  ///< by which it was multiplied
};

/// Multiplies A so that its largest element, if it is not in the range in which LAPACK computes safely, is at the end
/// of that range.
template <Scalar T>
Scaling<Real<T>> scale_into_range([[maybe_unused]] Index m, [[maybe_unused]] Index n, [[maybe_unused]] T* A,
                                  [[maybe_unused]] Index lda) {
  using R = Real<T>;
#ifdef STARPU_SIMGRID  // simulated matrices have no elements
  return {R(1), R(1)};
#else
  constexpr R least = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon(), most = 1 / least;
  // Between |x| and 2 |x|, and much faster.
  R norm = largest(m, n, A, lda, [](T x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); });
  if (is_complex<T> && !(norm >= 2 * least && norm <= most))
    norm = largest(m, n, A, lda, [](T x) { return std::abs(x); });
  const R factor = norm > 0 && norm < least ? least / norm : norm > most ? most / norm : R(1);
  scale(m, n, A, lda, factor);
  return {norm, factor};
#endif
}

}  // namespace tessera::detail
