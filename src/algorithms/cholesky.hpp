// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "tile/ops.hpp"
#include "tile/views.hpp"

namespace tessera::algorithms {

/// A = L Lᴴ, where L replaces the lower triangle of A.
///
/// The factorization is left-looking: each tile receives all its updates and is then final before the next tile starts.
/// A tile thus arrives just before its first update, and is written back while other tiles are computed. The order of
/// submission, which is also the order of priorities, goes down one tile column after another. The next diagonal tile
/// is an exception: it is submitted as soon as the tile on its left is complete, because its factorization does not
/// fill a GPU, and the whole next column waits for it.
///
/// Submits: herk and potrf for each tile on the diagonal, gemm and trsm for each tile below it, and diagonal_blocks for
/// each diagonal tile of L except the last, if CUDA GPUs solve with inverted diagonal blocks.
template <typename Sink>
void potrf(tile::Ops<Sink>& to, const tile::LowerView& A, codelets::InfoValue* info) {
  using Divisor = typename tile::Ops<Sink>::Divisor;
  const auto factorize = [&](Index k) {
    for (Index j = 0; j < k; j++) to.herk(-1, A(k, j), 1, A(k, k), A.stored());
    to.potrf(A(k, k), A.stored(), A.first_row(k), info);
    return k + 1 < A.nt() ? to.divisor(A(k, k), A.stored()) : Divisor{};
  };
  const auto complete = [&](Index i, Index k, const Divisor& L) {
    for (Index j = 0; j < k; j++) to.gemm(-1, A(i, j), to.adjoint(A(k, j)), 1, A(i, k));
    to.trsm(Side::Right, to.adjoint_op(), L, 1, A(i, k));
  };
  auto L = factorize(0);
  for (Index k = 0; k + 1 < A.nt(); k++) {
    complete(k + 1, k, L);
    auto next = factorize(k + 1);
    for (Index i = k + 2; i < A.nt(); i++) complete(i, k, L);
    L = std::move(next);
  }
}

}  // namespace tessera::algorithms
