// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <tessera/types.hpp>

namespace tessera::test {

/// How far an element c of C ← Σ α a b + β C, a sum of k terms that are not zero, may be from its exact value:
///
///   |ĉ − c| ≤ f γ(k+2) (Σ|α||a||b| + |β||c₀|),    γ(n) = nu / (1 − nu),
///
/// for whatever order and grouping of the additions, so for any tiles and any device. Each term goes through one
/// product, the factor α, and at most k additions: grouped into kt tiles of kb, kb − 1 of them within a tile and kt to
/// join the tiles to β c₀, and kb − 1 + kt ≤ k. The term β c₀ goes through one product and kt ≤ k additions. That is
/// k + 2 roundings at most (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., Lemma 3.1 and section
/// 3.5). Terms that are zero, as outside of a triangle, round nothing.
///
/// f = 1 for real types. A complex addition is as accurate as a real one, but a complex product has the error √2 γ(2)
/// instead of u (Higham, Lemma 3.5): with f = 2√2 each of the k + 2 operations may be one.
///
/// @param terms      k: of gemm its k; of syr2k twice that; of trmm what the row or column of the triangle has
/// @param magnitude  Σ|α||a||b| + |β||c₀|, with the true absolute values
template <Scalar T>
long double error_bound(Index terms, long double magnitude) {
  constexpr long double u = std::numeric_limits<Real<T>>::epsilon() / 2;
  const long double n = static_cast<long double>(terms) + 2;
  const long double f = is_complex<T> ? 2 * std::sqrt(2.0L) : 1;
  return f * n * u / (1 - n * u) * magnitude;
}

/// How far an element of the residual op(A) X̂ − α B of a triangular system may be from zero, with k terms in op(A) X:
///
///   |op(A) X̂ − α B| ≤ f γ(k+3) |op(A)||X̂|.
///
/// Its equation gives x̂ = (αb − Σ a x̂) / d. In whatever order and grouping, x̂ is the exact result for an a and a d that
/// are changed by at most γ(k) and a b that is not (Higham, Lemma 8.4 and Theorem 8.5: the errors of the additions that
/// b goes through are divided out). The factor α adds one rounding, and so does a reciprocal of d that is multiplied
/// with. For complex types reciprocal and product have the error √2 γ(6) together (Higham, Lemma 3.5): three
/// operations, of which the k have one.
///
/// Where blocks on the diagonal are inverted instead, their inverse V makes it |op(A)||V||op(A)||X̂| (section 14.2). The
/// operands of the tests are so well conditioned that this is larger by a small factor only, which is hidden in the k
/// of the long sums that such blocks have.
template <Scalar T>
long double residual_bound(Index terms, long double magnitude) {
  return error_bound<T>(terms + 1, magnitude);
}

}  // namespace tessera::test
