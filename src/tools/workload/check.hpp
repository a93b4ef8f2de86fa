// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "workload/operand.hpp"
#include "workload/problem.hpp"

namespace tessera::bench {

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
