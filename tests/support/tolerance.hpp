// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <tessera/types.hpp>

namespace tessera::test {

/// The error bound of an element c of C ← Σ α a b + β C, a sum of k nonzero terms:
///
///   |ĉ − c| ≤ f γ(k+2) (Σ|α||a||b| + |β||c₀|),    γ(n) = nu / (1 − nu),
///
/// It holds for any order and grouping of the additions, so for any tiles and any device. Each term has one product,
/// the factor α, and at most k additions: in kt tiles of kb terms, kb − 1 additions within a tile and kt to join the
/// tiles to β c₀, with kb − 1 + kt ≤ k. The term β c₀ has one product and kt ≤ k additions. These are at most k + 2
/// roundings (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., Lemma 3.1 and section 3.5). Zero terms,
/// such as those outside a triangle, cause no rounding.
///
/// f = 1 for real types. A complex addition is as accurate as a real one, but a complex product has the error √2 γ(2)
/// instead of u (Higham, Lemma 3.5): with f = 2√2 each of the k + 2 operations may be one.
///
/// @param terms      k: for gemm its k, for syr2k twice its k, for trmm the elements of the triangle's row or column
/// @param magnitude  Σ|α||a||b| + |β||c₀|, with the true absolute values
template <Scalar T>
long double error_bound(Index terms, long double magnitude) {
  constexpr long double u = std::numeric_limits<Real<T>>::epsilon() / 2;
  const long double n = static_cast<long double>(terms) + 2;
  const long double f = is_complex<T> ? 2 * std::sqrt(2.0L) : 1;
  return f * n * u / (1 - n * u) * magnitude;
}

/// The bound of an element of the residual op(A) X̂ − α B of a triangular system, with k terms in op(A) X:
///
///   |op(A) X̂ − α B| ≤ f γ(k+3) |op(A)||X̂|.
///
/// The equation gives x̂ = (αb − Σ a x̂) / d. In any order and grouping, x̂ is the exact result for a and d changed by at
/// most γ(k) and b unchanged (Higham, Lemma 8.4 and Theorem 8.5: the errors of additions to b are divided out).
/// The factor α adds one rounding, and so does multiplication by a reciprocal of d instead of division. For complex
/// types reciprocal and product together have the error √2 γ(6) (Higham, Lemma 3.5): three operations, one of which is
/// counted in k.
///
/// If diagonal blocks are inverted instead, with V the inverse, the bound becomes |op(A)||V||op(A)||X̂| (section 14.2).
/// The operands of the tests are well conditioned, so this is larger only by a small factor, which the k of the long
/// sums in such blocks hides.
template <Scalar T>
long double residual_bound(Index terms, long double magnitude) {
  return error_bound<T>(terms + 1, magnitude);
}

}  // namespace tessera::test
