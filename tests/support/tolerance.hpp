// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <tessera/types.hpp>

namespace tessera::test {

/// How far an element c of C ← α op(A) op(B) + β C may be from its exact value:
///
///   |ĉ − c| ≤ f γ(k+2) (|α| Σ|a||b| + |β||c₀|),    γ(n) = nu / (1 − nu),
///
/// for whatever order and grouping of the additions, so for any tiles and any device. Each term a·b goes through one
/// product, the factor α, and at most k additions: cut into kt tiles of kb, kb − 1 of them within a tile and kt to join
/// the tiles to β c₀, and kb − 1 + kt ≤ k. The term β c₀ goes through one product and kt ≤ k additions. That is k + 2
/// roundings at most (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., Lemma 3.1 and section 3.5).
///
/// f = 1 for real types. A complex addition is as accurate as a real one, but a complex product has the error √2 γ(2)
/// instead of u (Higham, Lemma 3.5): with f = 2√2 each of the k + 2 operations may be one.
///
/// @param magnitude  |α| Σ|a||b| + |β||c₀|, with the true absolute values
template <Scalar T>
long double error_bound(Index k, long double magnitude) {
  constexpr long double u = std::numeric_limits<Real<T>>::epsilon() / 2;
  const long double n = static_cast<long double>(k) + 2;
  const long double f = is_complex<T> ? 2 * std::sqrt(2.0L) : 1;
  return f * n * u / (1 - n * u) * magnitude;
}

}  // namespace tessera::test
