// SPDX-License-Identifier: BSD-3-Clause
// Plans for given tiles.
#include <algorithm>
#include <cmath>
#include <string>

#include <tessera/error.hpp>

#include "common/variables.hpp"
#include "machine_model.hpp"
#include "plans.hpp"
#include "tile/default_tile.hpp"
#include "tuning.hpp"

namespace tessera::plan {

using algorithms::Plan;
using tile::divide_up;
using tile::TileExtents;

namespace {

double room(const machine::Machine& machine, int gpus) { return most_of_memory * machine.gpu_memory * gpus; }

/// Whether GPUs own tiles, and these fit into their memory.
bool loads_first(const machine::Machine& machine, int gpus, double bytes) {
  return machine.has_owners() && (machine.gpu_memory <= 0 || bytes <= room(machine, gpus));
}

/// The number of tiles that cores compute in the time in which the GPUs compute the others.
Index tiles_for_cores(const Machine& model, int gpus, TileExtents task, Index tiles) {
  if (model.sharing_cores == 0) return 0;
  const double flops = model.flops(task), cores = model.sharing_cores;
  // The number of tiles that the GPUs compute while a core computes one.
  const double of_core = model.products_per_second(gpus, flops) * model.core.product_seconds(flops),
               each = std::floor(static_cast<double>(tiles) /
                                 (caution(model.error_of_cores, cores / of_core) * of_core + cores));
  return each * cores < static_cast<double>(tiles) ? static_cast<Index>(each * cores) : 0;
}

/// The margin by which a block of C exceeds the minimum for the links, which do not always reach their full rate.
constexpr double block_margin = 2;

/// The order, in elements, of the smallest square of C for which the links keep up, if each GPU of the grid keeps such
/// a square while it goes through k. With b×b on each GPU, every loaded row or column is used b times. The bound is
/// that of Wu and JaJa, 4 (1/bm + 1/bn) F < BW for 8-byte elements, applied to the grid as a whole.
double smallest_block(const Machine& model, tile::OwnerGrid grid) {
  const auto& gpu = model.gpus.front();
  const double per_element = model.element_size / model.flops_per_multiply_add;
  return per_element * (1.0 / grid.p + 1.0 / grid.q) * gpu.kernels.at("gemm").best_rate() / gpu.in_rate;
}

/// The smallest block for which the links can feed the GPUs, plus a margin. The margin shrinks if the GPUs can then
/// hold two copies of the block. If not even one copy fits with the margin, the block is the largest that fits once.
/// CPU workers need no blocks.
/// @param gpus  number of GPUs that take part
algorithms::Block choose_block(const Machine& model, int gpus, tile::TileExtents tile) {
  if (gpus == 0) return {};
  const auto grid = tile::owner_grid(gpus);
  // No block fits whose side is four times that of a square which fills the memory, nor half of it twice.
  const double largest = model.memory > 0 ? 4 * std::sqrt(model.memory / model.element_size) : 0x1p31,
               side = std::min(block_margin * smallest_block(model, grid), largest);
  const auto tiles_along = [&](Index extent) {
    return std::max<Index>(3, static_cast<Index>(std::ceil(side / static_cast<double>(extent))));
  };
  struct OnOneGpu {  // tiles of the block that one GPU owns
    Index rows, columns;
  };
  const auto inputs = [&](OnOneGpu p) {
    return model.bytes(p.rows * tile.m, tile.k) + model.bytes(tile.k, p.columns * tile.n);
  };
  // A GPU holds its tiles of C, one column and one row of input tiles, and such inputs again for the next term.
  const auto fits = [&](OnOneGpu p, int copies) {
    return model.memory <= 0 ||
           copies * model.bytes(p.rows * tile.m, p.columns * tile.n) + 2 * inputs(p) <= model.memory;
  };
  const auto shrink = [&](OnOneGpu p, OnOneGpu least) {
    const bool wide = p.columns * tile.n > p.rows * tile.m;
    if (p.columns > least.columns && (wide || p.rows == least.rows)) p.columns--;
    else p.rows--;
    return p;
  };
  OnOneGpu part{tiles_along(tile.m), tiles_along(tile.n)};
  // If the memory has room for two copies of a smaller block, that block starts sooner, because its sums need not wait
  // for C. The lower limit for such a block is the minimum for the links, without the margin.
  const auto half = [](Index tiles) {
    return std::max<Index>(1, tile::divide_up(tiles, static_cast<Index>(block_margin)));
  };
  const OnOneGpu least{half(part.rows), half(part.columns)};
  auto smaller = part;
  while ((smaller.rows > least.rows || smaller.columns > least.columns) && !fits(smaller, 2))
    smaller = shrink(smaller, least);
  const bool fits_twice = fits(smaller, 2);
  if (fits_twice) part = smaller;
  while ((part.rows > 1 || part.columns > 1) && !fits(part, 1)) part = shrink(part, {1, 1});
  algorithms::Block block{part.rows * grid.p, part.columns * grid.q, fits_twice};
  if (model.memory > 0) {
    const double left = model.memory - model.bytes(part.rows * tile.m, part.columns * tile.n);
    block.resident = static_cast<Index>(std::max(0.0, left / inputs(part)));
  }
  return block;
}

}  // namespace

Plan plan_sums(const machine::Machine& machine, char type, TileExtents tile, Index tiles, Index k, int gpus) {
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
  return plan;
}

Plan plan_columns(const machine::Machine& machine, TileExtents tile, Index columns, int gpus) {
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

Plan plan_tiles(const machine::Machine& machine, Index tile, int gpus, double bytes) {
  Plan plan;
  plan.gpus = gpus;
  plan.tile = {tile, tile, tile};
  if (gpus == 0) gpus = machine.gpu_count();
  if (machine.has_owners()) plan.grid = tile::owner_grid(gpus);
  plan.load_first = bytes > 0 && loads_first(machine, gpus, bytes);
  return plan;
}

Plan plan_panels(const machine::Machine& machine, char type, Index m, Index n, TileExtents tile, int gpus) {
  const double column = static_cast<double>(common::size_of(type)) * static_cast<double>(m);
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

tile::EdgeTiles edges_of_products(const machine::Machine& machine, int gpus) {
  using enum tile::EdgeTiles;
  if (gpus == 0) return Ragged;
  if (machine.even_edges) return *machine.even_edges ? Even : Ragged;
  return gpus == 1 ? NotLow : Ragged;
}

TileExtents tiles_to_keep(const machine::Machine& machine, char type, Index m, Index n, Index k) {
  constexpr Index tiles_per_gpu = 8, narrowest = 1024, widest = 4096;
  const auto smallest = std::min(narrowest, tile::default_tile(machine, type));
  const Index most = m * n / (tiles_per_gpu * std::max(1, machine.gpu_count()));
  Index tile = smallest;
  while (tile < widest && 4 * tile * tile <= most) tile *= 2;
  return {std::min(m, tile), std::min(n, tile), std::min(k, tile)};
}

void require_room(const machine::Machine& machine, double tiles) {
  const bool only_gpus = machine.has_owners() || machine.cpu_workers == 0;
  if (machine.gpu_count() == 0 || !only_gpus || machine.gpu_memory <= 0 || tiles <= machine.gpu_memory) return;
  const auto in_mib = [](double bytes) { return std::to_string(static_cast<Index>(bytes / 0x1p20)) + " MiB"; };
  if (machine.tile == 0)
    throw NoRoom("the tiles of a task take " + in_mib(tiles) + ", but a GPU has only " + in_mib(machine.gpu_memory) +
                 " for them");
  throw common::option_error("tile", "is " + std::to_string(machine.tile) + ": the tiles of a task take " +
                                         in_mib(tiles) + ", must be at most the " + in_mib(machine.gpu_memory) +
                                         " that a GPU has for them");
}

}  // namespace tessera::plan
