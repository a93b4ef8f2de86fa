// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "sweep.hpp"
#include "tile/ops.hpp"

namespace tessera::algorithms {

// Solves and products with triangular matrices in square tiles. triangular_panels.hpp has those in panels of full
// height, and panel_order.hpp the order of their steps.

/// X(s, j) ← α A(s, t) X(t, j) + β X(s, j)
template <typename Sink>
void add_term(tile::Ops<Sink>& to, const Sweep& X, Index s, Index t, Index j, const Number& alpha, const Number& beta) {
  const auto a = X.factor(s, t), x = X(t, j);
  if (X.side() == Side::Left) to.gemm(alpha, a, x, beta, X(s, j));
  else to.gemm(alpha, x, a, beta, X(s, j));
}

/// X ← factor A⁻¹ X. Row s is solved after the solutions of all earlier rows have been subtracted. No task waits for a
/// whole row: the sum of each tile starts with the solutions that are available.
template <typename Sink>
void trsm(tile::Ops<Sink>& to, const Sweep& X, const Number& factor) {
  for (const auto group : X.groups())
    for (Index s = 0; s < X.rows(); s++) {
      for (Index x = 0; x < s; x++)
        for (Index j = group.begin; j < group.end; j++) add_term(to, X, s, X.term(j, x, s), j, -1, x == 0 ? factor : 1);
      const auto divisor = to.divisor(X.diagonal(s), X.uplo(), X.diag());
      for (Index j = group.begin; j < group.end; j++)
        to.trsm(X.side(), X.op(), divisor, s == 0 ? factor : 1, X(s, j), tile::Spread::AsInBlas);
    }
}

/// X ← factor A X, in place. Rows are overwritten from last to first, each row after all rows that need it have read
/// it. In the last half, each row t is loaded once and then used for all results. The terms of the first half are added
/// result by result, so results are written back one after another.
template <typename Sink>
void trmm(tile::Ops<Sink>& to, const Sweep& X, const Number& factor) {
  const Index rows = X.rows(), middle = rows / 2;
  for (const auto group : X.groups()) {
    const auto multiply_diagonal = [&](Index s) {
      for (Index j = group.begin; j < group.end; j++)
        to.trmm(X.side(), X.op(), X.diagonal(s), X.uplo(), X.diag(), factor, X(s, j), tile::Spread::AsInBlas);
    };
    for (Index t = rows - 1; t >= middle; t--) {
      for (Index x = 0; x < rows - 1 - t; x++)
        for (Index j = group.begin; j < group.end; j++)
          add_term(to, X, rows - 1 - X.term(j, x, rows - 1 - t), t, j, factor, 1);
      multiply_diagonal(t);
    }
    for (Index s = rows - 1; s >= 0; s--) {
      const Index terms = std::min(s, middle);
      if (s < middle) multiply_diagonal(s);
      for (Index x = 0; x < terms; x++)
        for (Index j = group.begin; j < group.end; j++)
          add_term(to, X, s, terms - 1 - X.term(j, x, terms), j, factor, 1);
    }
  }
}

}  // namespace tessera::algorithms
