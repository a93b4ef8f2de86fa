// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "operand.hpp"
#include "problem.hpp"

namespace tessera::bench {

/// factor · left · right
template <Scalar T>
struct Term {
  T factor;
  Operand<T> left, right;
};

/// What a routine has to have computed: result = Σ terms + β before. In all routines but one, `result` is C and
/// `before` what it was; trsm, which is checked by its residual, says 0 = op(A) C − α before.
template <Scalar T>
struct Equation {
  Index m, n;                  ///< of C
  Index k;                     ///< terms of each product; 0 if there is none to add
  std::vector<Term<T>> terms;  ///< left m×k, right k×n
  T beta;
  Operand<T> before, result;
  const T* C;                         ///< the output
  std::optional<Uplo> triangle = {};  ///< the part of C that is computed; nothing: all of it

  /// First row of column j that is computed, and the one after the last.
  std::pair<Index, Index> rows(Index j) const {
    if (!triangle) return {0, m};
    return *triangle == Uplo::Lower ? std::pair{j, m} : std::pair{Index{0}, j + 1};
  }
};

/// Small equations: every element, with products of the host BLAS of matrices that are written out in full. Large ones,
/// in wider arithmetic: one element out of each block of C, so that a tile that lacks a part of its sum is seen, and
/// both sides times a random vector t, so that no element is left out.
///
/// The error is the largest |difference| / (Σ |factor| |left| |right| + |β| |before|), taken element by element; with
/// t, both sides of the fraction are multiplied by |t|. It is infinite if something has changed that the routine must
/// not touch, the other triangle or the padding between columns, or if a Hermitian C has a diagonal that is not real.
template <Scalar T>
Verdict check_equation(Equation<T> equation);

}  // namespace tessera::bench
