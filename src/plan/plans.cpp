// SPDX-License-Identifier: BSD-3-Clause
#include "plans.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "chosen.hpp"
#include "tiling/core_share.hpp"
#include "tiling/panels.hpp"
#include "tiling/planning.hpp"
#include "tiling/tile_size.hpp"
#include "tiling/tile_size_gpu.hpp"

namespace tessera::detail {

namespace {

Plan plan_chosen_columns(const Machine& machine, Side side, Index m, Index n, const ChosenTiles& chosen) {
  const Index for_gpus = (side == Side::Left ? n : m) - chosen.columns_for_cores.whole();
  const Index columns = divide_up(for_gpus, side == Side::Left ? chosen.n : chosen.m);
  auto plan = with_choice(plan_columns(machine, {chosen.m, chosen.n, chosen.k}, columns, chosen.gpus), chosen);
  plan.panels = chosen.panels;
  plan.columns_for_cores = chosen.columns_for_cores;
  return plan;
}

/// The tiles that a rehearsal chose, for a triangle on the left.
ChosenTiles as_tiles(const plan::Choice& choice) {
  const auto& chosen = choice.candidate;
  return {chosen.tile, chosen.width, chosen.tile, choice.seconds, "", chosen.panels, chosen.gpus};
}

/// Candidates in panels: the best for each number of GPUs, if there is one.
std::vector<plan::Candidate> triangular_panels(MachineModel model, bool inverse, Index order, Index free) {
  std::vector<plan::Candidate> panels;
  const int all = model.gpus;
  for (model.gpus = 1; model.gpus <= all; model.gpus++)
    if (const auto best = choose_triangular_panels(model, inverse, order, free))
      panels.push_back({best->k, best->n, model.gpus, best->panels});
  return panels;
}

/// The tiles that rehearsals choose for a triangle on the left of a matrix with `free` columns; empty if rehearsals do
/// not cover the call.
/// @param in_panels  whether panels are candidates, too. Cores can share only tiles.
std::optional<ChosenTiles> rehearsed_triangular(const MachineModel& model, const Machine& machine, char type, Side side,
                                                bool inverse, Index order, Index free, bool in_panels) {
  if (machine.tile > 0) return std::nullopt;
  const auto in_tiles = [&](Index columns) -> std::optional<ChosenTiles> {
    const auto best = plan::choose_triangular(machine, type, side, inverse, order, columns);
    return best ? std::optional(as_tiles(*best)) : std::nullopt;
  };
  const auto panels = in_panels ? triangular_panels(model, inverse, order, free) : std::vector<plan::Candidate>{};
  const auto best = plan::choose_triangular(machine, type, side, inverse, order, free, panels);
  if (!best) return std::nullopt;
  const auto tiles = as_tiles(*best);
  if (!tiles.panels.exist()) return share_columns_with_cores(model, tiles, order, free, in_tiles);
  auto panelled = tiles;
  panelled.m = order;
  panelled.reason = "shortest predicted time: panels " + std::to_string(tiles.n) + " wide, the triangle in panels of " +
                    std::to_string(tiles.k) + " columns";
  const auto alone = model.sharing_cores > 0 ? in_tiles(free) : std::nullopt;
  if (!alone) return panelled;
  auto shared = share_columns_with_cores(model, *alone, order, free, in_tiles);
  const bool faster = least_advantage_in_columns(model.gpus).is_reached(shared.seconds, panelled.seconds);
  return faster ? shared : panelled;
}

/// The tiles that rehearsals choose for a triangle on either side of an m×n matrix.
std::optional<ChosenTiles> rehearsed_triangular(const MachineModel& model, const Machine& machine, char type, Side side,
                                                bool inverse, Index m, Index n, Op op) {
  const bool left = side == Side::Left;
  auto tiles =
      rehearsed_triangular(model, machine, type, side, inverse, left ? m : n, left ? n : m, left && op == Op::NoTrans);
  if (tiles && !left) std::swap(tiles->m, tiles->n);
  return tiles;
}

}  // namespace

Plan plan_triangular(const Machine& machine, char type, Side side, Op op, bool inverse, Index m, Index n) {
  const auto all = machine_model(machine, type);
  if (const auto rehearsed = rehearsed_triangular(all, machine, type, side, inverse, m, n, op))
    return plan_chosen_columns(machine, side, m, n, *rehearsed);
  const auto planned = [&](const MachineModel& model) {
    const auto tiles = choose_triangular_tiles(model, side, inverse, m, n, machine.tile);
    require_room(machine, model, {tiles.m, tiles.n, tiles.k}, m, n, side == Side::Left ? m : n);
    return plan_chosen_columns(machine, side, m, n, tiles);
  };
  return with_or_without_cores(all, planned, least_advantage_in_columns(machine.gpu_count()));
}

Plan plan_solves(const Machine& machine, char type, Side side, Index m, Index n) {
  auto model = machine_model(machine, type);
  model.sharing_cores = 0;  // cores get no part of B: one plan serves all solves
  const auto rehearsed = rehearsed_triangular(model, machine, type, side, true, m, n, Op::Trans);  // no panels
  const auto tiles = rehearsed ? *rehearsed : choose_triangular_tiles(model, side, true, m, n, machine.tile);
  require_room(machine, model, {tiles.m, tiles.n, tiles.k}, m, n, side == Side::Left ? m : n);
  return plan_chosen_columns(machine, side, m, n, tiles);
}

/// @param bytes  size of the matrix
Plan plan_square_tiles(const Machine& machine, const ChosenTiles& chosen, double bytes) {
  auto plan = with_choice(plan_tiles(machine, chosen.n, chosen.gpus), chosen);
  const double room = most_of_memory * machine.gpu_memory * machine.gpu_count();
  plan.load_first = machine.has_owners() && (machine.gpu_memory <= 0 || bytes <= room);
  return plan;
}

/// The tiles of a factorization that a rehearsal chose; empty if rehearsals do not cover the call.
template <typename Choose, typename... Extents>
std::optional<ChosenTiles> rehearsed_square(const Machine& machine, char type, Choose choose, Extents... extents) {
  if (machine.tile > 0) return std::nullopt;
  const auto choice = choose(machine, type, extents...);
  if (!choice) return std::nullopt;
  auto tiles = as_tiles(*choice);
  tiles.reason = "shortest predicted time: " + std::to_string(divide_up(std::min({extents...}), tiles.n)) +
                 " panels for " + std::to_string(tiles.gpus) + (tiles.gpus > 1 ? " GPUs" : " GPU");
  return tiles;
}

Plan plan_cholesky(const Machine& machine, char type, Index n) {
  const auto model = machine_model(machine, type);
  const auto chosen =
      rehearsed_square(machine, type, plan::choose_cholesky, n).value_or(choose_cholesky_tiles(model, n, machine.tile));
  require_room(machine, model, {chosen.n, chosen.n, chosen.n}, n, n, n);
  return plan_square_tiles(machine, chosen, model.bytes(n, n + chosen.n) / 2);
}

Plan plan_lu_nopiv(const Machine& machine, char type, Index m, Index n) {
  const auto model = machine_model(machine, type);
  const auto chosen = rehearsed_square(machine, type, plan::choose_lu_nopiv, m, n)
                          .value_or(choose_lu_nopiv_tiles(model, m, n, machine.tile));
  require_room(machine, model, {chosen.n, chosen.n, chosen.n}, m, n, std::min(m, n));
  return plan_square_tiles(machine, chosen, model.bytes(m, n));
}

/// The panels that a rehearsal chose for an m×n matrix.
Plan plan_chosen_panels(const Machine& machine, char type, Index m, Index n, const plan::Choice& choice) {
  const auto& chosen = choice.candidate;
  auto plan = plan_panels(machine, type, m, n, {chosen.tile, chosen.width, chosen.width}, chosen.gpus);
  plan.seconds = choice.seconds;
  plan.reason = "shortest predicted time: " + std::to_string(divide_up(std::min(m, n), chosen.width)) + " panels for " +
                std::to_string(chosen.gpus) + (chosen.gpus > 1 ? " GPUs" : " GPU");
  return plan;
}

Plan plan_getrf(const Machine& machine, char type, Index m, Index n) {
  const auto choice = machine.tile > 0 ? std::nullopt : plan::choose_lu(machine, type, m, n);
  if (choice) return plan_chosen_panels(machine, type, m, n, *choice);
  return plan_lu(machine, type, m, n, machine.cuda_gpus);
}

Plan plan_geqrf(const Machine& machine, char type, Index m, Index n) {
  // The panel of a matrix that is much taller than wide is factorized in another way, which is not timed.
  const auto choice = machine.tile > 0 || is_tall_for_qr(m, n) ? std::nullopt : plan::choose_qr(machine, type, m, n);
  return choice ? plan_chosen_panels(machine, type, m, n, *choice) : plan_qr(machine, type, m, n);
}

}  // namespace tessera::detail
