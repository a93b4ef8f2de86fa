// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/plan.hpp"
#include "product_order.hpp"
#include "tile/product_ops.hpp"
#include "tile/views.hpp"

/// The terms of sums. One step adds term k of a sum to tile (i, j) of the result. `Sum` defines the order of the steps.
namespace tessera::algorithms {

/// C ← α A B + β C, or a triangle of this result
struct Product {
  common::Number alpha;
  tile::FactorView A, B;
  algorithms::Panels panels = {};  ///< if they exist, a tile of B belongs to several terms or to several columns of C
  tile::TileExtents tile = {};     ///< extents of a term

  template <typename Ops>
  void operator()(Ops& to, const Step& s, const common::Number& beta, const tile::Tile& C) const {
    auto y = B(s.k / panels.terms, s.j / panels.columns);
    y.first_row = static_cast<int>(s.k % panels.terms * tile.k);
    y.first_column = static_cast<int>(s.j % panels.columns * tile.n);
    to.gemm(alpha, A(s.i, s.k), y, beta, C);
  }
};

/// C ← α S X + β C (Left), or α X S + β C (Right), where S is symmetric or Hermitian
struct SymmetricProduct {
  common::Number alpha;
  Side side;
  tile::SymmetricView S;
  tile::FactorView X;

  template <typename Ops>
  void operator()(Ops& to, const Step& s, const common::Number& beta, const tile::Tile& C) const {
    const bool left = side == Side::Left;
    const Index diagonal = left ? s.i : s.j;
    const auto a = left ? S(s.i, s.k) : S(s.k, s.j), x = left ? X(s.k, s.j) : X(s.i, s.k);
    if (s.k == diagonal) to.symm(S.is_hermitian(), side, S.stored(), alpha, a, x, beta, C);
    else if (left) to.gemm(alpha, a, x, beta, C);
    else to.gemm(alpha, x, a, beta, C);
  }
};

/// A triangle of C ← α A Aᵀ + β C, or of C ← α A Bᵀ + α B Aᵀ + β C. Hermitian updates use ᴴ instead of ᵀ, and ᾱ in the
/// second term.
struct RankUpdate {
  common::Number alpha;
  bool two;  ///< rank-2k update
  bool hermitian;
  tile::FactorView A, B;
  Index across;  ///< number of tile columns of C that use the same rows of B

  template <typename Ops>
  void operator()(Ops& to, const Step& s, const common::Number& beta, const tile::Tile& C) const {
    const auto a = A(s.i, s.k), b = B(s.i, s.k);
    if (!C.is_whole() && two) return to.rank_2k(hermitian, alpha, a, b, beta, C);
    if (!C.is_whole()) return to.rank_k(hermitian, alpha, a, beta, C);
    const auto transposed = [&](const tile::FactorView& X) {
      auto x = X(s.j / across, s.k);
      x.op = common::other_factor(hermitian, X.op());
      x.first_column = C.diagonal;
      return x;
    };
    to.gemm(alpha, a, transposed(B), beta, C);
    if (two) to.gemm(common::conjugated_if(hermitian, alpha), b, transposed(A), 1, C);
  }
};

}  // namespace tessera::algorithms
