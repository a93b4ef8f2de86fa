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

constexpr Index most_elements = Index{1} << 31;  // of a tile: StarPU multiplies in 32 bits
constexpr Index largest_tile = Index{1} << 30;   // the BLAS underneath counts in int

constexpr std::array<Index, 5> gpu_candidates{256, 512, 1024, 2048, 4096};

/// A block of C this much larger than the links need at least: they do not reach their full rate all the time.
constexpr double block_margin = 2;

/// The smallest square of C, in elements, that one GPU of the grid must hold while it goes through k for the links to
/// keep up: with b×b on each GPU, every loaded row or column of tiles is used b times. This is Wu and JaJa's bound,
/// 4 (1/bm + 1/bn) F < BW for 8-byte elements, for the grid as a whole.
double smallest_block(const TileProblem& machine, OwnerGrid grid) {
  const double flops = machine.rates.gpu.best_rate() * grid.size();
  const double bytes_per_second = machine.rates.link * grid.size();
  const double per_element = machine.element_size / machine.flops_per_multiply_add;
  return per_element * (1.0 / grid.p + 1.0 / grid.q) * flops / bytes_per_second;
}

/// What a tile task costs a GPU besides its kernel [s]: between two kernels StarPU releases the successors and starts
/// their transfers. From runs of one n with different tiles on an H200.
constexpr double task_overhead = 100e-6;

/// Larger tiles than these take too long to arrive for the first product, and to leave after the last.
constexpr double largest_tile_bytes = 1 << 27;

/// A GPU with fewer tiles of C than these has nothing to compute while it waits for one.
constexpr Index tiles_per_gpu = 4;

double square_flops(const TileProblem& machine, Index tile) {
  return machine.flops_per_multiply_add * std::pow(static_cast<double>(tile), 3);
}

double kernel_rate(const TileProblem& machine, Index tile) {
  return square_flops(machine, tile) / machine.rates.gpu.seconds(square_flops(machine, tile));
}

/// The smallest tile at which a GPU computes at nearly its best rate, overhead included.
Index smallest_efficient_tile(const TileProblem& machine) {
  const auto rate = [&](Index tile) {
    return square_flops(machine, tile) / (machine.rates.gpu.seconds(square_flops(machine, tile)) + task_overhead);
  };
  const double wanted = 0.95 * rate(*std::ranges::max_element(gpu_candidates, {}, rate));
  return *std::ranges::find_if(gpu_candidates, [&](Index tile) { return rate(tile) >= wanted; });
}

/// Arithmetic of the busiest GPU, or the transfers if they take longer, and the start and the end, when there is
/// nothing to overlap with: two tiles must arrive before the first product, one must leave after the last.
double predict_gpu(const TileProblem& machine, OwnerGrid grid, Index m, Index n, Index k, Index tile) {
  const double side = static_cast<double>(tile);
  const double mt = std::ceil(static_cast<double>(m) / side), nt = std::ceil(static_cast<double>(n) / side);
  const double largest_share = std::ceil(mt / grid.p) * std::ceil(nt / grid.q);
  const auto extent = [&](Index whole) { return std::min(static_cast<double>(whole), side); };
  const double task =
      machine.rates.gpu.seconds(machine.flops_per_multiply_add * extent(m) * extent(n) * extent(k)) + task_overhead;
  const double chain = task * std::ceil(static_cast<double>(k) / side);
  const double bytes = machine.element_size * (static_cast<double>(m) * static_cast<double>(k) +
                                               static_cast<double>(k) * static_cast<double>(n) +
                                               static_cast<double>(m) * static_cast<double>(n));
  const double transfers = bytes / (machine.rates.link * grid.size());
  const double ends = machine.element_size * (extent(m) * extent(k) + extent(k) * extent(n) + extent(m) * extent(n)) /
                      machine.rates.link;
  return std::max(largest_share * chain, transfers) + ends;
}

/// The largest tile up to the efficient one that leaves every GPU enough tiles of C.
ProductTiles choose_for_gpus(const TileProblem& machine, Index m, Index n, Index k, Index fixed) {
  const auto fits = [&](Index tile) {
    const double bytes = machine.element_size * static_cast<double>(tile) * static_cast<double>(tile);
    return tile <= smallest_efficient_tile(machine) && bytes <= largest_tile_bytes &&
           divide_up(m, tile) * divide_up(n, tile) >= tiles_per_gpu * machine.gpus;
  };
  ProductTiles best;
  best.m = fixed > 0 ? fixed : gpu_candidates.front();
  if (fixed == 0)
    for (const Index candidate : gpu_candidates)
      if (fits(candidate)) best.m = candidate;
  best.n = best.k = best.m;
  best.seconds = predict_gpu(machine, owner_grid(machine.gpus), m, n, k, best.m);

  const auto block = choose_block(machine, best.m);
  std::ostringstream reason;
  reason.precision(3);
  reason << (fixed > 0 ? "asked for" : "largest efficient tile with enough of them for every GPU") << ": kernel at "
         << kernel_rate(machine, best.m) * 1e-12 << " of " << machine.rates.gpu.best_rate() * 1e-12 << " TFLOP/s, "
         << divide_up(m, best.m) << "x" << divide_up(n, best.n) << " tiles for " << machine.gpus << " GPU"
         << (machine.gpus > 1 ? "s" : "") << ", blocks of " << block.rows << "x" << block.columns
         << " tiles so that links of " << machine.rates.link * 1e-9 << " GB/s keep up";
  best.reason = reason.str();
  return best;
}

/// Time of a tile of `tile` rows or columns, out of `whole`, beyond its flops at the best rate. OpenBLAS packs its
/// operands for each product: op(B)'s share is spread over the rows of the tile, op(A)'s over its columns. The lengths
/// at which packing takes as long as arithmetic were fitted to OpenBLAS 0.3.21 on products of 500 to 4000: tall tiles
/// are the better ones. Whole matrices of less than 128 fit a cache, and the fit does not hold for them.
double packing(double length, Index tile, Index whole) {
  constexpr double cached = 128;
  const double stretch = std::max(1.0, cached / static_cast<double>(whole));
  return length / (stretch * static_cast<double>(std::min(tile, whole)));
}

/// CPU workers read host memory: nothing is gained by cutting k, and C is cut only to give every worker enough tasks.
ProductTiles choose_for_cpus(const TileProblem& machine, Index m, Index n, Index k, Index fixed) {
  constexpr double submission = 10e-6;  // submission and hand-over [s]
  constexpr double imbalance = 0.1;     // of a task: what the last ones wait for each other, on average
  constexpr Index grain = 16;           // kernels like columns that start at whole vectors
  const double seconds_per_element =
      machine.flops_per_multiply_add * static_cast<double>(k) / machine.rates.cpu.best_rate();
  const Index most_tasks = Index{8} * machine.cpu_workers;
  const auto cut = [](Index whole, Index pieces) {
    return std::min(whole, divide_up(divide_up(whole, pieces), grain) * grain);
  };

  ProductTiles best;
  best.seconds = std::numeric_limits<double>::infinity();
  const auto consider = [&](Index tile_m, Index tile_n, Index tile_k) {
    const double tasks = static_cast<double>(divide_up(m, tile_m) * divide_up(n, tile_n));
    const auto rows = static_cast<double>(std::min(m, tile_m)), columns = static_cast<double>(std::min(n, tile_n));
    constexpr double pack_b = 100, pack_a = 25;
    const double task =
        rows * columns * seconds_per_element * (1 + packing(pack_b, tile_m, m) + packing(pack_a, tile_n, n));
    const double seconds = (std::ceil(tasks / machine.cpu_workers) + imbalance) * task + tasks * submission;
    if (seconds < best.seconds) {
      best.m = tile_m, best.n = tile_n, best.k = tile_k;
      best.seconds = seconds;
    }
  };
  if (fixed > 0) {
    consider(fixed, fixed, fixed);
  } else {
    for (Index rows = 1; rows <= most_tasks; rows++)
      for (Index columns = 1; rows * columns <= most_tasks; columns++) {
        const Index tile_m = std::min(cut(m, rows), largest_tile);
        const Index tile_n = std::min({cut(n, columns), largest_tile, most_elements / tile_m});
        consider(tile_m, tile_n, std::min({k, largest_tile, most_elements / std::max(tile_m, tile_n)}));
      }
  }
  const auto count = divide_up(m, best.m) * divide_up(n, best.n);
  std::ostringstream reason;
  reason << (fixed > 0 ? "asked for"
                       : "shortest predicted time; CPU workers read host memory in place, so k stays whole")
         << ": " << count << (count == 1 ? " tile" : " tiles") << " of C for " << machine.cpu_workers
         << (machine.cpu_workers == 1 ? " worker" : " workers");
  best.reason = reason.str();
  return best;
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
  return *std::ranges::find_if(gpu_candidates, [&](Index tile) {
    return kernel_rate(machine, tile) >= 0.9 * machine.rates.gpu.best_rate() || tile == gpu_candidates.back();
  });
}

}  // namespace tessera::detail
