// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <iterator>

#include "sweep.hpp"
#include "tile/ops.hpp"
#include "tile/split.hpp"

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
/// @param before, after  (s): called before and after the tasks of row s
template <typename Sink, typename Before, typename After>
void trsm(tile::Ops<Sink>& to, const Sweep& X, const Number& factor, Before before, After after) {
  for (const auto group : X.groups())
    for (Index s = 0; s < X.rows(); s++) {
      before(s);
      for (Index x = 0; x < s; x++)
        for (Index j = group.begin; j < group.end; j++) add_term(to, X, s, X.term(j, x, s), j, -1, x == 0 ? factor : 1);
      const auto divisor = to.divisor(X.diagonal(s), X.uplo(), X.diag());
      for (Index j = group.begin; j < group.end; j++)
        to.trsm(X.side(), X.op(), divisor, s == 0 ? factor : 1, X(s, j), tile::Spread::AsInBlas);
      after(s);
    }
}
template <typename Sink>
void trsm(tile::Ops<Sink>& to, const Sweep& X, const Number& factor) {
  const auto nothing = [](Index /*s*/) {};
  trsm(to, X, factor, nothing, nothing);
}

/// The solve above over processes, with A held back. A step computes one row in each row of processes (in each column,
/// if A is on the right).
/// @param inputs     counts `steps_held_back` steps
/// @param processes  number of processes that own the rows in turn
template <typename Sink, typename Inputs>
void trsm_held_back(tile::Ops<Sink>& to, Inputs& inputs, const Sweep& X, Index processes, const Number& factor) {
  const auto is_computed_here = [&](Index s) {
    bool here = false;
    for (Index j = 0; j < X.columns(); j++) here = here || inputs.is_mine(X(s, j).handle);
    return here;
  };
  const auto begin = [&](Index first) {
    if (first % processes != 0) return;
    for (Index s = first; s < std::min(first + processes, X.rows()); s++) {
      const bool is_read = is_computed_here(s);
      for (Index t = 0; t <= s; t++) inputs.add(X.factor(s, t).handle, is_read);
    }
    inputs.begin();
  };
  const auto end = [&](Index s) {
    if ((s + 1) % processes == 0 || s + 1 == X.rows()) inputs.end();
  };
  trsm(to, X, factor, begin, end);
}
inline Index steps_held_back(const Sweep& X, Index processes) {
  return std::ssize(X.groups()) * tile::divide_up(X.rows(), processes);
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
