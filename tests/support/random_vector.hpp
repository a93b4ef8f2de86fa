// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/operands.hpp"
#include "support/reference.hpp"

/// An oracle for large operands: it compares C t for random t, in time proportional to the size of the matrices.
namespace tessera::test {

template <Scalar T>
using Vector = std::vector<Wide<T>>;

/// A x
template <Scalar T>
Vector<T> times(const Values<T>& A, const Vector<T>& x) {
  Vector<T> y(static_cast<std::size_t>(A.m()));
  const bool by_columns = A.op == Op::NoTrans;  // to traverse memory in order
  const Index outer = by_columns ? A.n() : A.m(), inner = by_columns ? A.m() : A.n();
  for (Index s = 0; s < outer; s++)
    for (Index r = 0; r < inner; r++) {
      const Index i = by_columns ? r : s, j = by_columns ? s : r;
      y[static_cast<std::size_t>(i)] += A(i, j) * x[static_cast<std::size_t>(j)];
    }
  return y;
}

/// y ← factor x + y
template <Scalar T>
void add(Vector<T>& y, const Wide<T>& factor, const Vector<T>& x) {
  for (std::size_t i = 0; i < y.size(); i++) y[i] += factor * x[i];
}

template <Scalar T>
Vector<T> random_signs(Index size, Random& random) {
  Vector<T> t(static_cast<std::size_t>(size));
  for (auto& x : t) x = random.coin() ? 1 : -1;
  return t;
}

/// Whether a random sample of elements is right.
template <Scalar T>
::testing::AssertionResult samples_are_right(const Call<T>& before, const Call<T>& after, int samples) {
  const auto terms = terms_of(before, after);
  Random random(98);
  while (samples > 0) {
    const Index i = random.integer(0, after.C.m() - 1), j = random.integer(0, after.C.n() - 1);
    if (!is_meant(before.routine->c, before.options, i, j)) continue;
    samples--;
    if (auto right = element_is_right(terms, before, after, i, j); !right) return right;
  }
  return ::testing::AssertionSuccess();
}

/// Whether a result on integers is exactly right. Each vector misses a wrong row with probability 1/2. A symmetric C is
/// multiplied as a full matrix. The triangle of gemmt is not a product of matrices, so its elements are sampled.
template <Scalar T>
::testing::AssertionResult result_is_exact(const Call<T>& before, const Call<T>& after) {
  if (auto right = only_output_changed(before, after); !right) return right;
  const auto structure = before.routine->c;
  if (structure == Structure::Triangular) return samples_are_right(before, after, 2000);
  const Values<T> old{before.C, Op::NoTrans, structure, before.options},
      result{after.C, Op::NoTrans, structure, before.options};
  const auto alpha = widen(before.alpha), beta = widen(before.beta);
  Random random(99);
  for (int vectors = 0; vectors < 4; vectors++) {
    const auto t = random_signs<T>(after.C.n(), random);
    Vector<T> sums(static_cast<std::size_t>(after.C.m())), expected = sums;
    for (const auto& [factor, left, right] : terms_of(before, after))
      add<T>(sums, factor, times(left, times(right, t)));
    if (before.routine->solves()) {  // for trsm, op(A) X t must equal α B t
      add<T>(expected, alpha, times(old, t));
    } else {
      if (before.beta != T{}) add<T>(sums, beta, times(old, t));
      expected = times(result, t);
    }
    for (std::size_t i = 0; i < sums.size(); i++)
      if (sums[i] != expected[i])
        return ::testing::AssertionFailure()
               << before << ": row " << i << " is wrong: times a vector " << sums[i] << " and " << expected[i];
  }
  return ::testing::AssertionSuccess();
}

}  // namespace tessera::test
