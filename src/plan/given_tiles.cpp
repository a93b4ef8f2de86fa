// SPDX-License-Identifier: BSD-3-Clause
// Plans for given tiles.
#include <algorithm>
#include <cmath>
#include <string>

#include <tessera/error.hpp>

#include "block.hpp"
#include "common/variables.hpp"
#include "plans.hpp"
#include "tile/default_tile.hpp"
#include "tuning.hpp"

namespace tessera::plan {

using algorithms::Plan;
using tile::divide_up;
using tile::TileExtents;

namespace {

double room(const detail::Machine& machine, int gpus) { return most_of_memory * machine.gpu_memory * gpus; }

/// Whether GPUs own tiles, and these fit into their memory.
bool loads_first(const detail::Machine& machine, int gpus, double bytes) {
  return machine.has_owners() && (machine.gpu_memory <= 0 || bytes <= room(machine, gpus));
}

}  // namespace

static Index tiles_for_cores(const Machine& model, int gpus, TileExtents task, Index tiles) {
  if (model.sharing_cores == 0) return 0;
  const double flops = model.flops_per_multiply_add * static_cast<double>(task.m) * static_cast<double>(task.n) *
                       static_cast<double>(task.k);
  const double core = cores_are_slower * model.core.task_seconds("gemm", {flops}, model.element_size);
  double rate = 0;  // tasks that the GPUs compute in a second
  for (int gpu = 0; gpu < gpus; gpu++)
    rate += 1 / model.gpus[static_cast<std::size_t>(gpu)].task_seconds("gemm", {flops}, model.element_size);
  const Index cores = model.sharing_cores,
              each = static_cast<Index>(static_cast<double>(tiles) / (core * rate + static_cast<double>(cores)));
  return each * cores < tiles ? each * cores : 0;
}

Plan plan_sums(const detail::Machine& machine, char type, TileExtents tile, Index tiles, Index k, int gpus) {
  const auto& model = model_of(machine, type);
  Plan plan;
  plan.tile = tile, plan.k = k, plan.terms = divide_up(k, tile.k), plan.gpus = gpus;
  if (gpus == 0) gpus = machine.gpu_count();
  const Index workers = machine.has_owners() && gpus > 0 ? gpus : machine.cpu_workers + gpus;
  plan.sums = std::min(plan.terms, tile::sums_per_tile(workers, tiles, k));
  plan.block = choose_block(model, gpus, plan.task());
  plan.block.tile_after_tile = machine.gpus_alike;
  if (machine.has_owners()) plan.grid = tile::owner_grid(gpus);
  if (plan.sums == 1) plan.for_cores = tiles_for_cores(model, gpus, plan.task(), tiles);
  if (static_cast<double>(plan.for_cores) < least_part_of_cores * static_cast<double>(tiles)) plan.for_cores = 0;
  return plan;
}

Plan plan_columns(const detail::Machine& machine, TileExtents tile, Index columns, int gpus) {
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

Plan plan_tiles(const detail::Machine& machine, Index tile, int gpus, double bytes) {
  Plan plan;
  plan.gpus = gpus;
  plan.tile = {tile, tile, tile};
  if (gpus == 0) gpus = machine.gpu_count();
  if (machine.has_owners()) plan.grid = tile::owner_grid(gpus);
  plan.load_first = bytes > 0 && loads_first(machine, gpus, bytes);
  return plan;
}

Plan plan_panels(const detail::Machine& machine, char type, Index m, Index n, TileExtents tile, int gpus) {
  const double column = static_cast<double>(size_of(type)) * static_cast<double>(m);
  Plan plan;
  plan.tile = tile;
  plan.together = 1;
  plan.gpus = gpus;
  if (!machine.has_owners()) return plan;
  // OpenCL devices cannot factorize panels. If there are no CUDA GPUs, cores do, and the devices update the others.
  if (gpus == 0) gpus = machine.has_cuda() ? machine.cuda_gpus : machine.gpu_count();
  plan.grid = {1, gpus};
  plan.load_first = loads_first(machine, gpus, column * static_cast<double>(n));
  // Out of core, the panels that are updated together get half of the memory.
  if (!plan.load_first)
    plan.together =
        std::max<Index>(1, static_cast<Index>(room(machine, gpus) / 2 / (column * static_cast<double>(tile.n))));
  return plan;
}

tile::EdgeTiles edges_of_products(const detail::Machine& machine) {
  using enum tile::EdgeTiles;
  if (machine.gpu_count() == 0) return Ragged;
  if (machine.even_edges) return *machine.even_edges ? Even : Ragged;
  return machine.gpu_count() == 1 ? NotLow : Ragged;
}

TileExtents tiles_to_keep(const detail::Machine& machine, char type, Index m, Index n, Index k) {
  constexpr Index tiles_per_gpu = 8, narrowest = 1024, widest = 4096;
  const auto smallest = std::min(narrowest, tile::default_tile(machine, type));
  const Index most = m * n / (tiles_per_gpu * std::max(1, machine.gpu_count()));
  Index tile = smallest;
  while (tile < widest && 4 * tile * tile <= most) tile *= 2;
  return {std::min(m, tile), std::min(n, tile), std::min(k, tile)};
}

void require_room(const detail::Machine& machine, double tiles) {
  const bool only_gpus = machine.has_owners() || machine.cpu_workers == 0;
  if (machine.tile == 0 || machine.gpu_count() == 0 || !only_gpus || machine.gpu_memory <= 0) return;
  if (tiles <= machine.gpu_memory) return;
  const auto in_mib = [](double bytes) { return std::to_string(static_cast<Index>(bytes / 0x1p20)) + " MiB"; };
  throw detail::option_error("tile", "is " + std::to_string(machine.tile) + ": the tiles of a task take " +
                                         in_mib(tiles) + ", must be at most the " + in_mib(machine.gpu_memory) +
                                         " that a GPU has for them");
}

}  // namespace tessera::plan
