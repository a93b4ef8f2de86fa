// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <vector>

#include "support/tolerance.hpp"
#include "support/values.hpp"

namespace tessera::test {

/// A sum of products, with the magnitude and number of terms for its error bound.
template <Scalar T>
struct Sum {
  Wide<T> value = 0;
  long double magnitude = 0;
  Index terms = 0;

  void add(const Wide<T>& a, const Wide<T>& b) {
    if (a == Wide<T>(0) || b == Wide<T>(0)) return;
    value += a * b;
    magnitude += std::sqrt(std::norm(a) * std::norm(b));
    terms++;
  }
};

/// Element (i, j) of the sum of all terms.
template <Scalar T>
Sum<T> sum_of(const std::vector<Term<T>>& all, Index i, Index j) {
  Sum<T> sum;
  for (const auto& [factor, left, right] : all) {
    Sum<T> term;
    for (Index l = 0; l < left.n(); l++) term.add(left(i, l), right(l, j));
    sum.value += factor * term.value;
    sum.magnitude += std::abs(factor) * term.magnitude;
    sum.terms += term.terms;
  }
  return sum;
}

}  // namespace tessera::test
