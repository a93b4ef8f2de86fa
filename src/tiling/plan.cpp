// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include <algorithm>
#include <string>

#include "common/variables.hpp"
#include "core_share.hpp"
#include "gpu_costs.hpp"
#include "machine/panels_on_cores.hpp"
#include "planning.hpp"
#include "region.hpp"
#include "split.hpp"
#include "tile_size.hpp"

namespace tessera::detail {

namespace {

Index tiles_for_cores(const MachineModel& machine, TileExtents task, Index tiles) {
  if (machine.sharing_cores == 0) return 0;
  const double flops = machine.flops_per_multiply_add * static_cast<double>(task.m) * static_cast<double>(task.n) *
                       static_cast<double>(task.k);
  const double on_gpus = task_seconds(machine, flops) * static_cast<double>(tiles) / machine.gpus;
  const auto share = share_of_cores(machine, on_gpus, tiles, machine.rates.cpu.seconds(flops));
  return Advantage{}.is_reached(share.seconds, on_gpus) ? share.tiles : 0;
}

Plan plan_of_sums(const MachineModel& machine, TileExtents tile, Index tiles, Index k) {
  Plan plan;
  plan.tile = tile, plan.k = k, plan.terms = divide_up(k, tile.k);
  const Index workers = machine.has_owners() ? machine.gpus : machine.cpu_workers + machine.gpus;
  plan.sums = std::min(plan.terms, sums_per_tile(workers, tiles, k));
  plan.block = choose_block(machine, plan.task());
  if (machine.has_owners()) plan.grid = owner_grid(machine.gpus);
  if (plan.sums == 1) plan.for_cores = tiles_for_cores(machine, plan.task(), tiles);
  return plan;
}

/// The maximum width of a panel. For a matrix that is much taller than wide, copies are the bottleneck: panels leave
/// while later ones arrive, so only the time of one panel is added. The width is a multiple of a warp's.
Index widest_qr_panel(Index m, Index n) {
  constexpr Index panels = 8, warp = 32;
  if (!is_tall_for_qr(m, n)) return n;
  return divide_up(divide_up(n, panels), warp) * warp;
}

}  // namespace

void require_room(const Machine& machine, double tiles) {
  const bool only_gpus = machine.has_owners() || machine.cpu_workers == 0;
  if (machine.tile == 0 || machine.gpu_count() == 0 || !only_gpus || machine.gpu_memory <= 0) return;
  if (tiles <= machine.gpu_memory) return;
  const auto in_mib = [](double bytes) { return std::to_string(static_cast<Index>(bytes / 0x1p20)) + " MiB"; };
  throw option_error("tile", "is " + std::to_string(machine.tile) + ": the tiles of a task take " + in_mib(tiles) +
                                 ", must be at most the " + in_mib(machine.gpu_memory) + " that a GPU has for them");
}

void require_room(const Machine& machine, const MachineModel& model, TileExtents tile, Index m, Index n, Index k) {
  tile = {std::min(tile.m, m), std::min(tile.n, n), std::min(tile.k, k)};
  require_room(machine, model.bytes(tile.m, tile.k) + model.bytes(tile.k, tile.n) + model.bytes(tile.m, tile.n));
}

Plan plan_chosen(const MachineModel& machine, const ChosenTiles& chosen, Index tiles, Index k) {
  auto plan = with_choice(plan_of_sums(machine, {chosen.m, chosen.n, chosen.k}, tiles, std::max<Index>(k, 1)), chosen);
  if (chosen.panels.exist()) {
    plan.panels = chosen.panels;
    plan.sums = 1, plan.for_cores = 0;
    plan.grid = chosen.panels.by_rows ? OwnerGrid{machine.gpus, 1} : OwnerGrid{1, machine.gpus};
    plan.block = {};
  } else if (machine.gpus > 0)
    plan.reason += ", in blocks of " + std::to_string(plan.block.rows) + "x" + std::to_string(plan.block.columns);
  return plan;
}

EdgeTiles edges_of_products(const Machine& machine) {
  if (machine.gpu_count() == 0) return EdgeTiles::Ragged;
  if (machine.even_edges) return *machine.even_edges ? EdgeTiles::Even : EdgeTiles::Ragged;
  return machine.gpu_count() == 1 ? EdgeTiles::NotLow : EdgeTiles::Ragged;
}

Plan plan_panels(const Machine& machine, char type, Index m, Index n, TileExtents tile, int gpus) {
  const auto model = machine_model(machine, type);
  Plan plan;
  plan.tile = tile;
  plan.together = 1;
  plan.gpus = gpus;
  if (!machine.has_owners()) return plan;
  // OpenCL devices cannot factorize panels. If there are no CUDA GPUs, cores do, and the devices update the others.
  if (gpus == 0) gpus = machine.has_cuda() ? machine.cuda_gpus : machine.gpu_count();
  plan.grid = {1, gpus};
  const double room = most_of_memory * machine.gpu_memory * gpus;
  plan.load_first = machine.gpu_memory <= 0 || model.bytes(m, n) <= room;
  // Out of core, the panels that are updated together get half of the memory.
  if (!plan.load_first) plan.together = std::max<Index>(1, static_cast<Index>(room / 2 / model.bytes(m, tile.n)));
  return plan;
}

/// The rate at which cores factorize panels that GPUs update [flop/s]; 0: GPUs factorize panels, or the rate is
/// unknown.
static double panel_rate_of_cores(const Machine& machine, const MachineModel& model) {
  if (model.gpus == 0 || model.rates.gpu.empty() || model.rates.cpu.empty() || model.rates.others <= 0) return 0;
  return machine.has_cuda() ? gpu::panel_rate_of_cores() : model.rates.cpu.best_rate();
}

Plan plan_lu(const Machine& machine, char type, Index m, Index n, int gpus) {
  auto model = machine_model(machine, type);
  if (gpus > 0) model.gpus = gpus;
  const auto chosen = choose_lu_panel(model, m, std::min(m, n), machine.tile, panel_rate_of_cores(machine, model));
  require_room(machine, 2 * model.bytes(m, std::min(chosen.n, n)));  // one panel updates another
  auto plan = with_choice(plan_panels(machine, type, m, n, {chosen.m, chosen.n, chosen.k}, gpus), chosen);
  // Out of core, all rows of a panel become final at the same time.
  if (!plan.load_first) plan.tile.m = std::max<Index>(1, m);
  return plan;
}

Plan plan_qr(const Machine& machine, char type, Index m, Index n) {
  // Panels are half as wide as for LU, because the work for a panel's block grows with its width and does not
  // contribute to the result.
  constexpr Index least = 256;
  auto plan = plan_lu(machine, type, m, n);
  if (machine.tile == 0 && machine.gpu_count() > 0)
    plan.tile.n = std::min({plan.tile.n, std::max(plan.tile.n / 2, least), std::max<Index>(1, widest_qr_panel(m, n))});
  plan.tile.m = std::max<Index>(1, m), plan.tile.k = plan.tile.n;
  return plan;
}

Plan plan_sums(const Machine& machine, char type, TileExtents tile, Index tiles, Index k) {
  return plan_of_sums(machine_model(machine, type), tile, tiles, k);
}

TileExtents tiles_to_keep(const Machine& machine, char type, Index m, Index n, Index k) {
  constexpr Index tiles_per_gpu = 8, narrowest = 1024, widest = 4096;
  const auto smallest = std::min(narrowest, default_tile(machine, type));
  const Index most = m * n / (tiles_per_gpu * std::max(1, machine.gpu_count()));
  Index tile = smallest;
  while (tile < widest && 4 * tile * tile <= most) tile *= 2;
  return {std::min(m, tile), std::min(n, tile), std::min(k, tile)};
}

Plan plan_columns(const Machine& machine, TileExtents tile, Index columns, int gpus) {
  Plan plan;
  plan.tile = tile;
  plan.gpus = gpus;
  if (machine.has_owners()) {
    if (gpus == 0) gpus = machine.gpu_count();
    const int across = static_cast<int>(std::clamp<Index>(columns, 1, gpus));
    plan.grid = {gpus / across, across};
  }
  return plan;
}

Plan plan_tiles(const Machine& machine, Index tile, int gpus) {
  Plan plan;
  plan.gpus = gpus;
  plan.tile = {tile, tile, tile};
  if (machine.has_owners()) plan.grid = owner_grid(gpus > 0 ? gpus : machine.gpu_count());
  return plan;
}

Index default_tile(const Machine& machine, char type) {
  return machine.tile > 0 ? machine.tile : choose_default_tile(machine_model(machine, type));
}

}  // namespace tessera::detail
