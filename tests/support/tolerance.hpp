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
/// The bound holds for any order and grouping of the additions, and so for any tiles and any device. Each term α a b is
/// rounded at most k + 2 times: in two products, and in at most k additions. (If the k terms are kt tiles of kb terms,
/// these are kb − 1 additions within a tile and kt that add the tiles to β c₀, and kb − 1 + kt ≤ k.) The term β c₀ is
/// rounded in one product and in kt ≤ k additions. See Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
/// Lemma 3.1 and section 3.5. Zero terms, such as those outside a triangle, cause no rounding.
///
/// For real types, f = 1. For complex types, f = 2√2: a complex addition is as accurate as a real one, but a complex
/// product has the error √2 γ(2) instead of u (Higham, Lemma 3.5), and each of the k + 2 operations may be a product.
///
/// @param terms      k: for gemm its k, for syr2k twice its k, for trmm the number of elements in the triangle's row or
///                   column
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
/// Substitution computes x̂ = (αb − Σ a x̂) / d. For any order and grouping of the additions, x̂ is the exact result
/// for the same b, with a and d changed by a factor of at most 1 + γ(k) (Higham, Lemma 8.4 and Theorem 8.5: the errors
/// of additions to b are divided out). The factor α adds one rounding, and so does a multiplication by the reciprocal
/// of d in place of the division. For complex types, reciprocal and product together have the error √2 γ(6) (Higham,
/// Lemma 3.5), which is that of three operations, one of them already counted in k.
///
/// If the inverses V of diagonal blocks are used instead of substitution, |op(A)||V||op(A)||X̂| replaces |op(A)||X̂| in
/// the bound (section 14.2). The operands of the tests are well conditioned, so the new bound is larger only by a small
/// factor. The sums in such blocks are long, and their error is so far below its bound that the factor does not matter.
template <Scalar T>
long double residual_bound(Index terms, long double magnitude) {
  return error_bound<T>(terms + 1, magnitude);
}

}  // namespace tessera::test
