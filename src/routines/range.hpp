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

/// Matrices on pointers whose elements are near overflow or underflow.
namespace tessera::detail {

/// Calls visit(column) for all columns of A, on several threads if it is large.
template <Scalar T>
void for_columns_of(Index m, Index n, T* A, Index lda, auto visit) {
  for_columns(n, static_cast<double>(m) * static_cast<double>(n) * sizeof(T), [&](Index first, Index last) {
    for (Index j = first; j < last; j++) visit(std::span(A + j * lda, static_cast<std::size_t>(m)));
  });
}

/// The maximum of magnitude(x) over all elements; NaN if any is NaN.
template <Scalar T>
Real<T> largest(Index m, Index n, T* A, Index lda, auto magnitude) {
  using Bits = std::conditional_t<sizeof(Real<T>) == 4, std::uint32_t, std::uint64_t>;
  std::atomic<Bits> largest = 0;
  for_columns_of(m, n, A, lda, [&](std::span<const T> column) {
    Bits most = 0;  // bits of magnitudes are ordered like their values, and those of NaN come last
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
  R norm;    ///< norm of the matrix before scaling
  R factor;  ///< factor by which it was multiplied
};

/// Multiplies A such that its largest element is in the range in which LAPACK computes safely. An element outside the
/// range is moved to the nearest end of the range.
template <Scalar T>
Scaling<Real<T>> scale_into_range([[maybe_unused]] Index m, [[maybe_unused]] Index n, [[maybe_unused]] T* A,
                                  [[maybe_unused]] Index lda) {
  using R = Real<T>;
#ifdef STARPU_SIMGRID  // simulated matrices have no elements
  return {R(1), R(1)};
#else
  constexpr R least = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon(), most = 1 / least;
  // The bound is between |x| and 2 |x|, and much faster to compute.
  R norm = largest(m, n, A, lda, [](T x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); });
  if (is_complex<T> && !(norm >= 2 * least && norm <= most))
    norm = largest(m, n, A, lda, [](T x) { return std::abs(x); });
  const R factor = norm > 0 && norm < least ? least / norm : norm > most ? most / norm : R(1);
  scale(m, n, A, lda, factor);
  return {norm, factor};
#endif
}

}  // namespace tessera::detail
