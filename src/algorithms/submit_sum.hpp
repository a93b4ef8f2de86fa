// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/matrix.hpp>

#include "algorithms/plan.hpp"
#include "run.hpp"
#include "sum.hpp"
#include "tile/views.hpp"

namespace tessera::algorithms {

/// Submits C ← Σ terms + β C on a region of C as stored. All routines whose output is not also an input use this.
/// @param add  see `accumulate`
template <typename Term>
void submit_sum(const detail::Session& session, const algorithms::Plan& plan, const tile::Stored& C,
                tile::Region region, const common::Number& beta, bool real_diagonal, const Term& add) {
  const auto& share = C.grid().share();
  const bool panels = plan.panels.exist(), loads = plan.load_first && (panels || C.grid().is_private());
  const Index last = region.part == tile::Part::All ? 0 : plan.rows_for_cores.count;
  const Sum sum(session.machine(), plan, {session, plan.grid, C, region, last}, {share.p, share.q}, beta, real_diagonal,
                loads);
  const auto algorithm = [&](auto& to) { accumulate(to, sum, add); };
  sinks::Submitter submitter(session, C, plan.gpus);  // first, since loads are limited by the number of calls
  if (loads)
    load(session, C.type(), algorithm, panels ? sinks::LoadOn::FirstUser : sinks::LoadOn::LeastLoaded,
         (panels ? plan.panels.ahead : 2) * plan.grid.size());
  submit(submitter, algorithm);
}

/// C ← β C on a region of C as stored.
/// @param real_diagonal  whether to set the imaginary parts of the diagonal to 0
inline void submit_scale(const detail::Session& session, const common::Number& beta, const tile::Stored& C,
                         tile::Region region = tile::Part::All, bool real_diagonal = false) {
  if (beta == 1) return;
  const tile::ResultView view(session, tile::owner_grid(session.machine().gpu_count()), C, region);
  sinks::Submitter submitter(session, C);
  submit(submitter, [&](auto& to) {
    for (Index j = 0; j < C.nt(); j++)
      for (Index i = 0; i < C.mt(); i++)
        if (region.contains(i, j)) to.scale(beta, real_diagonal, view(i, j));
  });
}

}  // namespace tessera::algorithms
