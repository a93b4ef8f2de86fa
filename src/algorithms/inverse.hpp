// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "tile/ops.hpp"
#include "tile/views.hpp"

/// The inverse of a triangle, and its product with its adjoint. Together they invert a matrix given its Cholesky
/// factor: A⁻¹ = L⁻ᴴ L⁻¹.
///
/// Both are left-looking, row by row: each tile receives all its terms before the next tile. A tile is overwritten only
/// when no later tile needs its old value. Temporary tiles are needed only on GPUs, one for each diagonal tile.
namespace tessera::algorithms {

/// Finds the first zero on the diagonal of L.
template <typename Sink>
void find_zeros(tile::Ops<Sink>& to, const tile::LowerView& L, codelets::InfoValue* info) {
  for (Index k = 0; k < L.nt(); k++) to.find_zero(L(k, k), 0, L.first_row(k), info);
}

/// L ← W = L⁻¹: for i > k, W(i, k) = −L(i, i)⁻¹ Σ L(i, j) W(j, k) over k ≤ j < i. Each diagonal tile is applied to all
/// other tiles before it is inverted itself, so the term j = k is L(i, k) L(k, k)⁻¹.
template <typename Sink>
void trtri(tile::Ops<Sink>& to, const tile::LowerView& L, Diag diag) {
  std::vector<typename tile::Ops<Sink>::Divisor> divisors;
  for (Index i = 0; i < L.nt(); i++) {
    divisors.push_back(to.divisor(L(i, i), L.stored(), diag));
    for (Index k = 0; k < i; k++) {
      to.trsm(Side::Right, Op::NoTrans, divisors[static_cast<std::size_t>(k)], -1, L(i, k));
      for (Index j = k + 1; j < i; j++) to.gemm(-1, L(i, j), L(j, k), 1, L(i, k));
      to.trsm(Side::Left, Op::NoTrans, divisors.back(), 1, L(i, k));
    }
  }
  for (const auto& divisor : divisors) to.trtri(divisor);
}

/// L ← the lower triangle of R = Lᴴ L: R(i, k) = Σ L(j, i)ᴴ L(j, k) over j ≥ i.
template <typename Sink>
void lauum(tile::Ops<Sink>& to, const tile::LowerView& L) {
  for (Index i = 0; i < L.nt(); i++) {
    for (Index k = 0; k < i; k++) {
      to.trmm(Side::Left, to.adjoint_op(), L(i, i), L.stored(), Diag::NonUnit, 1, L(i, k));
      for (Index j = i + 1; j < L.nt(); j++) to.gemm(1, to.adjoint(L(j, i)), L(j, k), 1, L(i, k));
    }
    to.lauum(L(i, i), L.stored());
    for (Index j = i + 1; j < L.nt(); j++) to.herk(1, to.adjoint(L(j, i)), 1, L(i, i), L.stored());
  }
}

}  // namespace tessera::algorithms
