// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "panel_order.hpp"
#include "tile/ops.hpp"
#include "tile/views.hpp"

namespace tessera::algorithms {

/// C ← α A B + β C in tall panels, for a symmetric or Hermitian A on the left, of which one triangle is stored.
///
/// A, B and C are cut into panels of full height. Each step combines one panel of A with one panel of C: it multiplies
/// by the symmetric part on the diagonal, of which each GPU makes a full matrix first, by the rest of the panel, and by
/// the transpose of the rest. A panel of C is thus complete after one task per panel of A, and only the stored triangle
/// is copied. The panels are scheduled as in `triangular_panels`.
/// @param B, C   in panels of the same width
/// @param ahead  number of panels of C that each GPU starts while A arrives
template <typename Sink>
void symmetric_panels(tile::Ops<Sink>& to, bool hermitian, Uplo uplo, const common::Number& alpha,
                      const tile::PanelView& A, const tile::PanelView& B, common::Number beta, const tile::PanelView& C,
                      Index ahead, Index gpus) {
  if (beta == 0) beta = 0;  // −0 becomes +0: cuBLAS treats −0 as a nonzero factor and reads C
  const Index steps = A.count();
  using Temporaries = std::vector<std::optional<typename Sink::Temporary>>;
  Temporaries parts(static_cast<std::size_t>(C.count())), squares(static_cast<std::size_t>(steps * gpus));
  for (const auto& [j, s] : panel_steps(C.count(), steps, ahead, gpus)) {
    // The first step writes all rows, so it must use the panel of A that holds all rows of the triangle.
    const Index k = uplo == Uplo::Lower ? s : steps - 1 - s;
    const auto c = C(j);
    auto target = c;
    auto& part = parts[static_cast<std::size_t>(j)];
    // A GPU starts its first panel before C's panel has arrived, and adds that panel at the end.
    if (s == 0 && beta != 0 && j < gpus && steps > 1) part = to.partial_sum(c);
    if (part) target.handle = part->handle();
    auto& square = squares[static_cast<std::size_t>(s * gpus + j % gpus)];  // each GPU has its own
    if (!square) square = to.symmetrized(hermitian, uplo, A(k), A.first(k), c.owner);
    to.symm_panel(hermitian, uplo, alpha, A(k), *square, A.first(k), B(j),
                  s > 0  ? common::Number(1)
                  : part ? common::Number()
                         : beta,
                  target);
    if (!part || s + 1 < steps) continue;
    to.add(*part, false, beta, c);
    part.reset();
  }
}

}  // namespace tessera::algorithms
