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
/// A and X are cut into panels of all rows. A step is what one panel of A does to one of X: first to the rows of its
/// diagonal, then to all rows that depend on these. So a panel of X is complete after one task for each panel of A, and
/// panels of X are independent of each other.
///
/// While A arrives, the first panels of X take part: so the GPU computes, and a panel of A is used as soon as it is
/// there. Then one panel of X after another arrives, and is computed and written back while the next arrives.
/// @param inverse  true: trsm; false: trmm
/// @param blocked  see tile::is_blocked
/// @param ahead    panels of X that each GPU begins while A arrives
template <Scalar T, typename Sink, typename Stored>
void triangular_panels(tile::Ops<T, Sink>& to, bool inverse, Uplo uplo, Diag diag, bool blocked, T alpha,
                       const tile::PanelView<T, Stored>& A, const tile::PanelView<T, Stored>& X, Index ahead,
                       Index gpus) {
  const Index steps = A.count();
  // trsm begins with rows that depend on no other, trmm with those that no other needs.
  const auto at = [&](Index s) { return inverse == (uplo == Uplo::Lower) ? s : steps - 1 - s; };
  std::vector<std::optional<typename tile::Ops<T, Sink>::Divisor>> divisors(static_cast<std::size_t>(steps));
  std::vector<std::optional<Real<T>*>> sums(static_cast<std::size_t>(X.count()));  // of the next rows of each panel
  for (const auto& [j, s] : panel_steps(X.count(), steps, ahead, gpus)) {
    const Index k = at(s);
    auto& divisor = divisors[static_cast<std::size_t>(s)];
    if (!divisor) divisor = to.panel_divisor(A(k), A.first(k), uplo, diag, blocked && inverse);
    const bool last = s + 1 == steps;
    const auto next = last ? tile::PanelRows{} : tile::PanelRows{A.first(at(s + 1)), A(at(s + 1)).columns};
    to.triangular_panel(inverse, *divisor, blocked, A.first(k), inverse && s > 0 ? T(1) : alpha, X(j), next,
                        sums[static_cast<std::size_t>(j)]);
  }
}

}  // namespace tessera::algorithms
