// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "workload/operand.hpp"
#include "workload/problem.hpp"

namespace tessera::bench {

/// difference / scale; 0 if both are 0, as for an empty matrix. The result is infinite if the difference is not a
/// number, or if only the scale is 0.
inline double relative(double difference, double scale) {
  if (difference == 0) return 0;
  const double error = difference / scale;
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

/// The bound of the relative error. The two sides of the equation may differ by this times Σ |factor| |left| |right| +
/// |β| |before|, whatever the order of the additions (Higham, Accuracy and Stability, 2nd ed., sections 3.1 and 3.6). k
/// is the number of terms of all products together.
///
/// Real: each product a·b is rounded once, the sum of k of them and of βC at most k times, and the multiplication by α
/// once, before or after the sum. The factor is (1 + δ)^(k+2), which is (k+2) u to first order. FMA only saves
/// roundings.
///
/// Complex: the real and imaginary parts are sums of 2k products with |a_r b_r| + |a_i b_i| ≤ |a| |b|. Together they
/// are off by √2 · 2k u, and the multiplication by α adds √2 · 2 u: less than 2√2 (k+2) u in all.
///
/// trsm: substitution in any order satisfies (A + ΔA) X = fl(αB) with |ΔA| ≤ k u |A| to first order (section 8.1,
/// lemma 8.2 and theorem 8.5). Hence |A X − αB| ≤ k u |A| |X| + u |α| |B|. Multiplying by the reciprocal of a diagonal
/// element instead of dividing costs one more u, which again gives (k+2) u. Libraries that multiply by the inverse of a
/// whole diagonal block of order s add s u |A| |A⁻¹| |A| |X|. s is far smaller than k where it matters, and |A| |A⁻¹|
/// is small for the matrices of `generated`.
template <Scalar T>
double error_bound(Index k) {
  const double unit = std::numeric_limits<Real<T>>::epsilon() / 2;
  return (is_complex<T> ? 2 * std::sqrt(2.0) : 1.0) * static_cast<double>(k + 2) * unit;
}

/// A random vector with entries of magnitude 1/2 to 1, so that every column of C has weight.
template <Scalar T>
BoundedVector<T> random_vector(Index size, std::uint64_t seed) {
  BoundedVector<T> t(size);
  for (std::size_t i = 0; i < t.x.size(); i++) {
    const double x = generated(seed, 3, static_cast<Index>(i));
    t.x[i] = Wide<T>(static_cast<WideReal<T>>(x < 0 ? x - 0.5 : x + 0.5));
    t.s[i] = magnitude(t.x[i]);
  }
  return t;
}

/// factor · left · right
template <Scalar T>
struct Term {
  T factor;
  Operand<T> left, right;
};

/// The equation that the result of a routine must satisfy: result = Σ terms + β before. `result` is the new C and
/// `before` the old one. trsm is checked by its residual: 0 = op(A) C − α before.
template <Scalar T>
struct Equation {
  Index m, n;                  ///< size of C
  Index k;                     ///< terms of each product; 0 if nothing is added
  std::vector<Term<T>> terms;  ///< left: m×k, right: k×n
  T beta;
  Operand<T> before, result;
  const T* C;                         ///< the output
  std::optional<Uplo> triangle = {};  ///< the part of C that is computed; empty: all of C

  /// The range of computed rows in column j, without its end.
  std::pair<Index, Index> rows(Index j) const {
    if (!triangle) return {0, m};
    return *triangle == Uplo::Lower ? std::pair{j, m} : std::pair{Index{0}, j + 1};
  }
};

/// Compares both sides of the equation. Small equations: every element, using products of the host BLAS. Large
/// equations, in wider arithmetic: one element of each block of C, which detects a tile with an incomplete sum; and
/// both sides times a random vector t, which covers all elements.
///
/// The error is the maximum of |difference| / (Σ |factor| |left| |right| + |β| |before|) over the elements. For the
/// test with t, numerator and denominator are multiplied by |t|. The error is infinite if the other triangle or the
/// padding between columns has changed, or if the diagonal of a Hermitian C is not real.
template <Scalar T>
Verdict check_equation(Equation<T> equation);

}  // namespace tessera::bench
