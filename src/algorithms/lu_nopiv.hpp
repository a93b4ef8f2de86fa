// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "tile/ops.hpp"
#include "tile/views.hpp"

namespace tessera::algorithms {

/// Where to report the growth of a factorization, if requested.
struct MeasuredGrowth {
  codelets::GrowthValue* value = nullptr;
  starpu_data_handle_t handle = nullptr;  ///< an existing std::int64_t
};

/// A = L U on square tiles, without pivoting.
///
/// The order is that of `potrf`, with a row of U for each column of L. It is left-looking, and the next diagonal tile
/// is submitted as soon as the tiles above it and on its left are complete.
/// @param unit  which factor has a unit diagonal, for A as stored
template <typename Sink>
void getrf_nopiv(tile::Ops<Sink>& to, const tile::FullView& A, Uplo unit, codelets::InfoValue* info,
                 const MeasuredGrowth& growth) {
  using Of = codelets::GrowthValue;
  const Index mt = A.mt(), nt = A.nt(), steps = std::min(mt, nt);
  const Uplo other = unit == Uplo::Lower ? Uplo::Upper : Uplo::Lower;
  const auto divisor = [&](Index k, Uplo factor) {
    return to.divisor(A(k, k), factor, factor == unit ? Diag::Unit : Diag::NonUnit);
  };
  struct {
    typename tile::Ops<Sink>::Divisor lower, upper;
  } divisors[2];  // for tile (k, k) at index k modulo 2: only two neighbours are needed at a time
  const auto measure = [&](Of::Of of, Index i, Index j, common::Part part) {
    if (growth.value != nullptr) to.growth(A(i, j), part, of, growth.value, growth.handle);
  };
  const auto compute = [&](Index i, Index j) {
    const Index k = std::min(i, j);
    auto& [lower, upper] = divisors[k % 2];
    measure(Of::Matrix, i, j, common::Part::All);
    for (Index t = 0; t < k; t++) to.gemm(-1, A(i, t), A(t, j), 1, A(i, j));
    if (i < j) {
      to.trsm(Side::Left, Op::NoTrans, lower, 1, A(i, j));
    } else if (i > j) {
      to.trsm(Side::Right, Op::NoTrans, upper, 1, A(i, j));
    } else {
      to.getrf_nopiv(A(k, k), unit, A.first_row(k), info);
      lower = {}, upper = {};
      if (k + 1 < nt) lower = divisor(k, Uplo::Lower);
      if (k + 1 < mt) upper = divisor(k, Uplo::Upper);
    }
    if (i == j) measure(Of::Factor, i, j, common::part_of(other));
    else if ((other == Uplo::Upper) == (i < j)) measure(Of::Factor, i, j, common::Part::All);
  };
  compute(0, 0);
  for (Index k = 0; k < steps; k++) {
    const bool has_next = k + 1 < steps;
    if (has_next) compute(k, k + 1), compute(k + 1, k), compute(k + 1, k + 1);
    for (Index i = has_next ? k + 2 : k + 1; i < std::max(mt, nt); i++) {
      if (i < mt) compute(i, k);
      if (i < nt) compute(k, i);
    }
  }
}

}  // namespace tessera::algorithms
