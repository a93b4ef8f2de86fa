// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "panel_order.hpp"
#include "tile/ops.hpp"
#include "tile/views.hpp"

namespace tessera::algorithms {

/// X ← α op(A)⁻¹ X (trsm) or α op(A) X (trmm) in tall panels, for a triangular A; or with X on the left of op(A).
///
/// A and X are cut into panels of full height. Each step applies one panel of A to one panel of X: to the rows of the
/// diagonal, and to all rows that depend on them. If A is transposed, the step gathers the terms of its rows instead. A
/// panel of X is thus complete after one task per panel of A, and the panels of X are independent of each other. If A
/// is on the right, X is one panel.
///
/// While A arrives, the GPUs apply each panel of A to their first panels of X as soon as it is there. Afterwards, each
/// panel of X arrives and is written back while other panels are computed.
/// @param ahead    number of panels of X that each GPU starts while A arrives
template <typename Sink>
void triangular_panels(tile::Ops<Sink>& to, const tile::TriangularFactor& how, const common::Number& alpha,
                       const tile::PanelView& A, const tile::PanelView& X, Index ahead, Index gpus) {
  const Index steps = A.count();
  // trsm begins with the rows that depend on no others, trmm with the rows that no others need.
  const bool ascends = (how.inverse == (how.uplo == Uplo::Lower)) != how.gathers();
  const auto at = [&](Index s) { return ascends ? s : steps - 1 - s; };
  std::vector<std::optional<typename tile::Ops<Sink>::Divisor>> divisors(static_cast<std::size_t>(steps));
  std::vector<std::optional<void*>> sums(static_cast<std::size_t>(X.count()));  // for the next rows, by panel
  for (const auto& [j, s] : panel_steps(X.count(), steps, ahead, gpus)) {
    const Index k = at(s);
    auto& divisor = divisors[static_cast<std::size_t>(s)];
    if (!divisor) divisor = to.panel_divisor(A(k), A.first(k), how.uplo, how.diag, how.blocked && how.inverse);
    const bool last = s + 1 == steps;
    const bool scaled = how.inverse && !how.gathers() && s > 0;  // the first step has applied α
    const auto next = last ? tile::PanelRows{} : tile::PanelRows{A.first(at(s + 1)), A(at(s + 1)).columns};
    to.triangular_panel(how, *divisor, A.first(k), scaled ? 1 : alpha, X(j), next, sums[static_cast<std::size_t>(j)]);
  }
}

}  // namespace tessera::algorithms
