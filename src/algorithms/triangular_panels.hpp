// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "panel_order.hpp"
#include "tile/ops.hpp"
#include "tile/views.hpp"

namespace tessera::algorithms {

/// X ← α A⁻¹ X (trsm) or α A X (trmm) in tall panels, for a triangular A on the left that is not transposed.
///
/// A and X are cut into panels of full height. Each step applies one panel of A to one panel of X: first to the rows of
/// the diagonal, then to all rows that depend on them. A panel of X is thus complete after one task per panel of A, and
/// the panels of X are independent of each other.
///
/// While A arrives, the GPUs apply each panel of A to their first panels of X as soon as it is there. Afterwards, each
/// panel of X arrives and is written back while other panels are computed.
/// @param inverse  true: trsm; false: trmm
/// @param blocked  see tile::is_blocked
/// @param ahead    number of panels of X that each GPU starts while A arrives
template <typename Sink>
void triangular_panels(tile::Ops<Sink>& to, bool inverse, Uplo uplo, Diag diag, bool blocked, const Number& alpha,
                       const tile::PanelView& A, const tile::PanelView& X, Index ahead, Index gpus) {
  const Index steps = A.count();
  // trsm begins with the rows that depend on no others, trmm with the rows that no others need.
  const auto at = [&](Index s) { return inverse == (uplo == Uplo::Lower) ? s : steps - 1 - s; };
  std::vector<std::optional<typename tile::Ops<Sink>::Divisor>> divisors(static_cast<std::size_t>(steps));
  std::vector<std::optional<void*>> sums(static_cast<std::size_t>(X.count()));  // by panel; of the next step's rows
  for (const auto& [j, s] : panel_steps(X.count(), steps, ahead, gpus)) {
    const Index k = at(s);
    auto& divisor = divisors[static_cast<std::size_t>(s)];
    if (!divisor) divisor = to.panel_divisor(A(k), A.first(k), uplo, diag, blocked && inverse);
    const bool last = s + 1 == steps;
    const auto next = last ? tile::PanelRows{} : tile::PanelRows{A.first(at(s + 1)), A(at(s + 1)).columns};
    to.triangular_panel(inverse, *divisor, blocked, A.first(k), inverse && s > 0 ? 1 : alpha, X(j), next,
                        sums[static_cast<std::size_t>(j)]);
  }
}

}  // namespace tessera::algorithms
