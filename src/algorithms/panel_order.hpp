// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "algorithms/plan.hpp"
#include "product_order.hpp"

namespace tessera::algorithms {

/// All terms of the tiles of an mt×nt result with kt terms per tile, in the order of submission, for a call in panels.
///
/// While A arrives, each GPU computes its first `ahead` panels simultaneously. If each of these panels needs its own
/// tile of B, panel p of them begins when the fraction p / ahead of A has arrived. In this way the GPU computes while
/// the links carry A, and B does not delay A. Afterwards, tiles are completed one after another in growing squares, so
/// each tile of A and B is combined with all earlier ones.
///
/// GPUs own tile columns of C, or tile rows if C is very tall (see `Panels::by_rows`). Each GPU follows this order for
/// the tiles that it owns.
///
/// All sums are deferred: C arrives while they are computed.
inline std::vector<Step> panel_order(Index mt, Index nt, Index kt, const algorithms::Panels& panels,
                                     const Owners& owners) {
  const Index ahead = panels.ahead;
  const auto [p, q] = owners.grid();
  std::vector<Step> steps;
  steps.reserve(static_cast<std::size_t>(mt * nt * kt));
  for (Index j = 0; j < nt; j++)
    for (Index i = 0; i < mt; i++)
      for (Index s = 0; s < kt; s++) steps.push_back({i, j, owners.term(i, j, s, kt), s, true});
  std::ranges::stable_sort(steps, {}, [&](const Step& step) {
    const Index row = step.i / p, panel = step.j / q;  // counted within each GPU
    const bool first = row == 0 && panel < ahead;
    const Index begin = panels.columns > 1 ? 0 : panel * kt / ahead;
    if (first) return std::tuple(Index{0}, std::max(step.term, begin));
    return std::tuple(1 + std::max(row, panel), row == 0 ? Index{0} : step.j);
  });
  return steps;
}

/// The update of panel j of the result by panel s of A.
struct PanelStep {
  Index j, s;
};

/// The steps, in the order of submission, of a call with one task for each pair of a panel of the result and a panel of
/// A. The first `ahead` panels of each GPU advance together as A arrives; then panels follow one after another.
inline std::vector<PanelStep> panel_steps(Index panels, Index steps, Index ahead, Index gpus) {
  std::vector<PanelStep> order;
  order.reserve(static_cast<std::size_t>(panels * steps));
  for (Index j = 0; j < panels; j++)
    for (Index s = 0; s < steps; s++) order.push_back({j, s});
  std::ranges::stable_sort(order, {}, [&](const PanelStep& step) {
    const Index panel = step.j / gpus;
    if (panel >= ahead) return std::tuple(panel, Index{0});
    return std::tuple(Index{0}, std::max(step.s, panel * steps / ahead));  // its share of A has arrived
  });
  return order;
}

}  // namespace tessera::algorithms
