// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "panel_ops.hpp"
#include "panel_sweeps.hpp"
#include "panel_times.hpp"

/// LU factorization with partial pivoting, in panels. A step changes only the last tiles of a panel.
namespace tessera::algorithms {

/// If panel k ends a row of tiles, applies the row exchanges to all earlier panels. This row of tiles is then final and
/// is written back.
template <typename Sink>
void finish_rows(PanelOps<Sink>& to, Index k) {
  const Index begin = to.first_of_row(k);
  if (begin < 0) return;
  for (Index j = 0; j < k; j++) to.exchange(j, std::max(j + 1, begin), k + 1);
}

/// A = P⁻¹ L U, right-looking: as soon as a panel is factorized, it updates all later panels, starting with the next.
/// Rows of tiles that are final are written back during the next steps.
///
/// The first panels are an exception, because they are factorized while A is still arriving. Few columns can be updated
/// at that time, so each column that has arrived gets as many updates as possible. Some of these updates run while the
/// next panel is factorized.
template <typename Sink>
void getrf(PanelOps<Sink>& to, const PanelTimes<PanelOps<Sink>>& times, codelets::InfoValue* value) {
  const Index all = to.panels(), pivoted = to.pivoted(), wanted = first_panels(to, pivoted);
  const Index first_ones = to.are_copied() ? std::min(wanted, PanelOps<Sink>::most_copies) : wanted;
  std::vector<typename Sink::Temporary> inverses(static_cast<std::size_t>(all));
  std::vector<Index> updates(inverses.size());  // number of updates that each panel has received
  const auto of = [&](Index k) -> auto& { return inverses[static_cast<std::size_t>(k)]; };
  const auto updated = [&](Index j) -> auto& { return updates[static_cast<std::size_t>(j)]; };
  const auto update_up_to = [&](Index end, Index j) {
    for (auto& k = updated(j); k < end; k++) to.update(k, j, of(k));
  };
  const auto factorize = [&](Index j, Index arrived) {  // factorizes panel j while the previous panel updates others
    const auto beside = j > 0 ? times.panels_beside(j - 1, j, arrived) : std::vector<Index>{};
    for (const auto i : beside) {
      update_up_to(j - 1, i);
      updated(i) = j;
    }
    of(j) = beside.empty() ? to.factorize(j, value) : to.factorize_beside(j, j - 1, of(j - 1), beside, value);
  };
  double elapsed = 0;  // [s]
  for (Index j = 0; j < all; j++) {
    update_up_to(std::min(j, first_ones), j);
    if (j > first_ones || j >= pivoted) continue;
    factorize(j, times.arrived(elapsed));
    elapsed += times.seconds_of(j);
  }
  for (Index k = 0; k < first_ones; k++) {
    to.forget(k);
    finish_rows(to, k);
  }
  for (Index k = first_ones; k < pivoted; k++) {
    const Index next = k + 1;
    if (next < all) update_up_to(next, next);
    if (next < pivoted) factorize(next, all);
    for (Index j = next + 1; j < all; j++) update_up_to(next, j);
    of(k) = {};
    to.forget(k);
    finish_rows(to, k);
  }
}

/// The factorization above, in one process or a rehearsal.
template <typename Sink>
void getrf(PanelOps<Sink>& to, codelets::InfoValue* value) {
  getrf(to, PanelTimes(to), value);
}

/// A = P⁻¹ L U, left-looking. Exchanges by later panels come last, because updates need the rows of L in the order that
/// they had when their panel was factorized.
/// @param together  see `left_looking`
template <typename Sink>
void getrf_out_of_core(PanelOps<Sink>& to, Index together, codelets::InfoValue* value) {
  const Index all = to.panels(), pivoted = to.pivoted();
  std::vector<typename Sink::Temporary> inverses(static_cast<std::size_t>(all));
  const auto of = [&](Index k) -> auto& { return inverses[static_cast<std::size_t>(k)]; };
  left_looking(
      all, pivoted, together, [&](Index k, Index j) { to.update(k, j, of(k)); },
      [&](Index j) { of(j) = to.factorize(j, value); });
  for (Index j = 0; j < pivoted; j++) to.exchange(j, j + 1, pivoted);
}

/// B ← op(A)⁻¹ B, given the factors of A.
/// @param B  its rows are cut into the same tiles as those of A
template <typename Sink>
void getrs(PanelOps<Sink>& to, Op op, const tile::Stored& B) {
  const Index count = to.pivoted();
  const bool transposed = op != Op::NoTrans;
  for (Index j = 0; j < B.nt(); j++) {
    if (!transposed) to.exchange(B, j, 0, count);
    for (Index k = 0; k < count; k++) to.solve(transposed ? Uplo::Upper : Uplo::Lower, op, k, B, j);
    for (Index k = count - 1; k >= 0; k--) to.solve(transposed ? Uplo::Lower : Uplo::Upper, op, k, B, j);
    if (transposed) to.exchange_back(B, j);
  }
}

/// The solve above over many processes, with the panels held back: each step sends the tiles of one triangle in one
/// panel, applies them to all of B, and discards them. A tile that both triangles need is sent twice.
/// @param inputs  counts 2 `to.pivoted()` steps
template <typename Sink, typename Inputs>
void getrs_held_back(PanelOps<Sink>& to, Inputs& inputs, Op op, const tile::Stored& B) {
  const Index count = to.pivoted();
  const bool transposed = op != Op::NoTrans;
  const auto step = [&](Uplo uplo, Index k) {
    to.add_inputs(inputs, uplo, k, B);
    inputs.begin();
    for (Index j = 0; j < B.nt(); j++) to.solve(uplo, op, k, B, j);
    inputs.end();
  };
  if (!transposed)
    for (Index j = 0; j < B.nt(); j++) to.exchange(B, j, 0, count);
  for (Index k = 0; k < count; k++) step(transposed ? Uplo::Upper : Uplo::Lower, k);
  for (Index k = count - 1; k >= 0; k--) step(transposed ? Uplo::Lower : Uplo::Upper, k);
  if (transposed)
    for (Index j = 0; j < B.nt(); j++) to.exchange_back(B, j);
}

}  // namespace tessera::algorithms
