// SPDX-License-Identifier: BSD-3-Clause
#include "tile_size.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

namespace tessera::detail {

namespace {

constexpr Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

constexpr std::array<Index, 7> gpu_candidates{256, 512, 1024, 1536, 2048, 3072, 4096};

/// A block of C this much larger than the links need at least: they do not reach their full rate all the time.
constexpr double block_margin = 1.5;

/// The smallest square of C, in elements, that one GPU of the grid must hold while it goes through k for the links to
/// keep up: with b×b on each GPU, every loaded row or column of tiles is used b times. This is Wu and JaJa's bound,
/// 4 (1/bm + 1/bn) F < BW for 8-byte elements, for the grid as a whole.
double smallest_block(const TileProblem& machine, OwnerGrid grid) {
  const double flops = machine.rates.gpu.best_rate() * grid.size();
  const double bytes_per_second = machine.rates.link * grid.size();
  const double per_element = machine.element_size / machine.flops_per_multiply_add;
  return per_element * (1.0 / grid.p + 1.0 / grid.q) * flops / bytes_per_second;
}

/// Arithmetic of the busiest GPU, or the transfers if they take longer, and the start and the end, when there is
/// nothing to overlap with: two tiles must arrive before the first product, one must leave after the last.
double predict_gpu(const TileProblem& machine, OwnerGrid grid, Index m, Index n, Index k, Index tile) {
  const double side = static_cast<double>(tile);
  const double mt = std::ceil(static_cast<double>(m) / side), nt = std::ceil(static_cast<double>(n) / side);
  const double largest_share = std::ceil(mt / grid.p) * std::ceil(nt / grid.q);
  const auto extent = [&](Index whole) { return std::min(static_cast<double>(whole), side); };
  const double chain = machine.rates.gpu.seconds(machine.flops_per_multiply_add * extent(m) * extent(n) * extent(k)) *
                       std::ceil(static_cast<double>(k) / side);
  const double bytes = machine.element_size * (static_cast<double>(m) * static_cast<double>(k) +
                                               static_cast<double>(k) * static_cast<double>(n) +
                                               static_cast<double>(m) * static_cast<double>(n));
  const double transfers = bytes / (machine.rates.link * grid.size());
  const double ends = machine.element_size * (extent(m) * extent(k) + extent(k) * extent(n) + extent(m) * extent(n)) /
                      machine.rates.link;
  return std::max(largest_share * chain, transfers) + ends;
}

ProductTiles choose_for_gpus(const TileProblem& machine, Index m, Index n, Index k, Index fixed) {
  const auto grid = owner_grid(machine.gpus);
  ProductTiles best;
  best.seconds = std::numeric_limits<double>::infinity();
  for (const Index candidate : gpu_candidates) {
    const Index tile = fixed > 0 ? fixed : candidate;
    const double seconds = predict_gpu(machine, grid, m, n, k, tile);
    if (seconds < best.seconds) {
      best.m = best.n = best.k = tile;
      best.seconds = seconds;
    }
    if (fixed > 0) break;
  }
  const auto block = choose_block(machine, best.m);
  std::ostringstream reason;
  reason.precision(3);
  reason << (fixed > 0 ? "asked for" : "shortest predicted time") << ": kernel at "
         << machine.flops_per_multiply_add * std::pow(static_cast<double>(best.m), 3) /
                machine.rates.gpu.seconds(machine.flops_per_multiply_add * std::pow(static_cast<double>(best.m), 3)) *
                1e-12
         << " of " << machine.rates.gpu.best_rate() * 1e-12 << " TFLOP/s, " << divide_up(m, best.m) << "x"
         << divide_up(n, best.n) << " tiles for " << machine.gpus << " GPU" << (machine.gpus > 1 ? "s" : "")
         << ", blocks of " << block.rows << "x" << block.columns << " tiles so that links of "
         << machine.rates.link * 1e-9 << " GB/s keep up";
  best.reason = reason.str();
  return best;
}

/// CPU workers read host memory: nothing is gained by cutting k, and C is cut only to give every worker enough tasks.
ProductTiles choose_for_cpus(const TileProblem& machine, Index m, Index n, Index k, Index fixed) {
  const double work =
      machine.flops_per_multiply_add * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const double share = machine.rates.cpu.seconds(work) / machine.cpu_workers;
  constexpr double worth_a_task = 50e-6;  // several times what StarPU costs for one
  constexpr double long_task = 4e-3;      // shorter ones only to give everyone one
  constexpr double most_per_worker = 16;
  ProductTiles tiles;
  tiles.m = tiles.n = tiles.k = fixed;
  if (fixed == 0) {
    const double per_worker = std::clamp(std::floor(share / long_task), 1.0, most_per_worker);
    const auto tasks = share < worth_a_task ? Index{1} : static_cast<Index>(per_worker) * machine.cpu_workers;
    constexpr Index grain = 16;  // kernels like columns that start at whole vectors
    // Square tiles, rounded to the grain: rows first, then as many columns as give the number of tasks.
    const double square = std::sqrt(static_cast<double>(m) * static_cast<double>(n) / static_cast<double>(tasks));
    const auto rows = std::clamp<Index>(std::llround(static_cast<double>(m) / square), 1, tasks);
    tiles.m = std::min(m, divide_up(divide_up(m, rows), grain) * grain);
    tiles.n = std::min(n, divide_up(divide_up(n, std::max<Index>(1, tasks / rows)), grain) * grain);
    tiles.k = k;
  }
  const auto count = divide_up(m, tiles.m) * divide_up(n, tiles.n);
  tiles.seconds = share;
  std::ostringstream reason;
  reason << (fixed > 0 ? "asked for" : "CPU workers read host memory in place, so k stays whole") << ": " << count
         << (count == 1 ? " task" : " tasks") << " for " << machine.cpu_workers
         << (machine.cpu_workers == 1 ? " worker" : " workers");
  tiles.reason = reason.str();
  return tiles;
}

}  // namespace

OwnerGrid owner_grid(int gpus) {
  OwnerGrid grid{1, std::max(gpus, 1)};
  for (int p = 2; p * p <= gpus; p++)
    if (gpus % p == 0) grid = {p, gpus / p};
  return grid;
}

ProductTiles choose_product_tiles(const TileProblem& machine, Index m, Index n, Index k, Index fixed) {
  m = std::max<Index>(m, 1), n = std::max<Index>(n, 1), k = std::max<Index>(k, 1);
  return machine.gpus > 0 ? choose_for_gpus(machine, m, n, k, fixed) : choose_for_cpus(machine, m, n, k, fixed);
}

Block choose_block(const TileProblem& machine, Index tile) {
  if (machine.gpus == 0) return {};
  const auto grid = owner_grid(machine.gpus);
  const double side = block_margin * smallest_block(machine, grid);
  const auto per_gpu = static_cast<Index>(std::ceil(side / static_cast<double>(tile)));
  return {per_gpu * grid.p, per_gpu * grid.q};
}

Index choose_default_tile(const TileProblem& machine) {
  constexpr Index for_cpus = 512;  // a task of some milliseconds on any core of today
  if (machine.gpus == 0) return for_cpus;
  for (const Index tile : gpu_candidates) {
    const double flops = machine.flops_per_multiply_add * std::pow(static_cast<double>(tile), 3);
    if (flops / machine.rates.gpu.seconds(flops) >= 0.9 * machine.rates.gpu.best_rate()) return tile;
  }
  return gpu_candidates.back();
}

}  // namespace tessera::detail
