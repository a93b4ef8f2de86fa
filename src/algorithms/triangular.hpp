// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "sweep.hpp"
#include "tile/ops.hpp"
#include "tile/split.hpp"

namespace tessera::algorithms {

// Solves and products with triangular matrices in square tiles. triangular_panels.hpp has those in panels of full
// height, and panel_order.hpp the order of their steps.

/// X(s, j) ← α A(s, t) X(t, j) + β X(s, j)
template <typename Sink>
void add_term(tile::Ops<Sink>& to, const Sweep& X, Index s, Index t, Index j, const common::Number& alpha,
              const common::Number& beta) {
  const auto a = X.factor(s, t), x = X(t, j);
  if (X.side() == Side::Left) to.gemm(alpha, a, x, beta, X(s, j));
  else to.gemm(alpha, x, a, beta, X(s, j));
}

/// X ← factor A⁻¹ X. Row s is solved after the solutions of all earlier rows have been subtracted. No task waits for a
/// whole row: the sum of each tile starts with the solutions that are available.
template <typename Sink>
void trsm(tile::Ops<Sink>& to, const Sweep& X, const common::Number& factor) {
  for (const auto group : X.groups())
    for (Index s = 0; s < X.rows(); s++) {
      for (Index x = 0; x < s; x++)
        for (Index j = group.begin; j < group.end; j++) add_term(to, X, s, X.term(j, x, s), j, -1, x == 0 ? factor : 1);
      const auto divisor = to.divisor(X.diagonal(s), X.uplo(), X.diag());
      for (Index j = group.begin; j < group.end; j++)
        to.trsm(X.side(), X.op(), divisor, s == 0 ? factor : 1, X(s, j), tile::Spread::AsInBlas);
    }
}

/// The solve above over processes that hold few tiles of A and X of others. Rows of X form blocks, with one row for
/// each row of processes (one column for each column of processes, if A is on the right). A step solves a block,
/// subtracts it from the next one, and then subtracts the block before from all others, so there is work while the
/// next block is solved. A step's tiles are used for the last time in the step after it.
/// @param inputs     counts `steps_held_back` steps
/// @param processes  number of processes that own the rows in turn
template <typename Sink, typename Inputs>
void trsm_held_back(tile::Ops<Sink>& to, Inputs& inputs, const Sweep& X, Index processes,
                    const common::Number& factor) {
  const Index rows = X.rows();
  const auto is_mine = [&](Index s, Index j) { return inputs.is_mine(X(s, j).handle); };
  for (const auto group : X.groups()) {
    std::vector<bool> is_computed_here(static_cast<std::size_t>(rows)), has_terms(static_cast<std::size_t>(rows));
    std::vector<Index> last_here(static_cast<std::size_t>(X.columns()));  // the last row of this process in a column
    for (Index s = 0; s < rows; s++)
      for (Index j = group.begin; j < group.end; j++)
        if (is_mine(s, j))
          is_computed_here[static_cast<std::size_t>(s)] = true, last_here[static_cast<std::size_t>(j)] = s;
    const auto end_of_block = [&](Index first) { return std::min(first + processes, rows); };
    // X(s, ·) ← X(s, ·) − the terms of columns [begin, end) of A
    const auto subtract = [&](Index s, Index begin, Index end) {
      for (Index t = begin; t < end; t++) {
        const common::Number beta = has_terms[static_cast<std::size_t>(s)] ? common::Number(1) : factor;
        has_terms[static_cast<std::size_t>(s)] = true;
        for (Index j = group.begin; j < group.end; j++) add_term(to, X, s, t, j, -1, beta);
      }
    };
    for (Index first = 0; first < rows; first += processes) {
      const Index end = end_of_block(first), end_of_next = end_of_block(end), before = first - processes;
      for (Index t = first; t < end; t++) {
        for (Index s = t; s < rows; s++)
          inputs.add(X.factor(s, t).handle, is_computed_here[static_cast<std::size_t>(s)]);
        for (Index j = group.begin; j < group.end; j++)
          inputs.add_result(X(t, j).handle, last_here[static_cast<std::size_t>(j)] > t);
      }
      inputs.begin();
      for (Index t = first; t < end; t++) {
        subtract(t, first, t);
        const auto divisor = to.divisor(X.diagonal(t), X.uplo(), X.diag());
        for (Index j = group.begin; j < group.end; j++)
          to.trsm(X.side(), X.op(), divisor, t == 0 ? factor : 1, X(t, j), tile::Spread::AsInBlas);
      }
      for (Index s = end; s < end_of_next; s++) subtract(s, first, end);
      if (before >= 0)
        for (Index s = end; s < rows; s++) subtract(s, before, first);
      inputs.end();
    }
    inputs.forget_all();  // another group needs the same tiles of A
  }
}
/// The number of steps that read the tiles of a step.
inline constexpr Index uses_of_step_held_back = 2;
inline Index steps_held_back(const Sweep& X, Index processes) {
  return std::ssize(X.groups()) * tile::divide_up(X.rows(), processes);
}

/// X ← factor A X, in place. Rows are overwritten from last to first, each row after all rows that need it have read
/// it. In the last half, each row t is loaded once and then used for all results. The terms of the first half are added
/// result by result, so results are written back one after another.
template <typename Sink>
void trmm(tile::Ops<Sink>& to, const Sweep& X, const common::Number& factor) {
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
