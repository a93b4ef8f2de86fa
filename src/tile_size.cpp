// SPDX-License-Identifier: BSD-3-Clause
#include "tile_size.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "tile_size_cpu.hpp"

namespace tessera::detail {

namespace {

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

/// How many tiles of C are computed.
Index tile_count(Index m, Index n, Index tile, bool triangle) {
  const Index rows = divide_up(m, tile);
  return triangle ? rows * (rows + 1) / 2 : rows * divide_up(n, tile);
}

/// The largest tile up to the efficient one that leaves every GPU enough tiles of C.
ProductTiles choose_for_gpus(const TileProblem& machine, Index m, Index n, Index k, bool triangle, Index fixed) {
  const auto fits = [&](Index tile) {
    const double bytes = machine.element_size * static_cast<double>(tile) * static_cast<double>(tile);
    return tile <= smallest_efficient_tile(machine) && bytes <= largest_tile_bytes &&
           tile_count(m, n, tile, triangle) >= tiles_per_gpu * machine.gpus;
  };
  ProductTiles best;
  best.m = fixed > 0 ? fixed : gpu_candidates.front();
  if (fixed == 0)
    for (const Index candidate : gpu_candidates)
      if (fits(candidate)) best.m = candidate;
  best.n = best.k = best.m;
  best.seconds = predict_gpu(machine, owner_grid(machine.gpus), m, n, k, best.m) * (triangle ? 0.5 : 1);

  const auto block = choose_block(machine, best.m);
  std::ostringstream reason;
  reason.precision(3);
  reason << (fixed > 0 ? "asked for" : "largest efficient tile with enough of them for every GPU") << ": kernel at "
         << kernel_rate(machine, best.m) * 1e-12 << " of " << machine.rates.gpu.best_rate() * 1e-12 << " TFLOP/s, "
         << tile_count(m, n, best.m, triangle) << " tiles of C for " << machine.gpus << " GPU"
         << (machine.gpus > 1 ? "s" : "") << ", blocks of " << block.rows << "x" << block.columns
         << " tiles so that links of " << machine.rates.link * 1e-9 << " GB/s keep up";
  best.reason = reason.str();
  return best;
}

/// What one row of a triangle on the diagonal adds to the time of its tile [s], beyond that of half a product: the
/// blocks on the diagonal are small, and come one after another. On an H200, tiles of 1024 to 4096 rows and columns
/// cost between 0.05 and 0.17 µs a row.
constexpr double row_latency = 0.08e-6;

/// A GPU with fewer columns of X than these waits for their tiles, and ends when the last one does.
constexpr Index columns_per_gpu = 2;

/// Each column of tiles of X belongs to one GPU, which works through the rows: the time of the busiest one, or the
/// transfers if they take longer, and the start and the end.
/// @param order, tile  of the triangular matrix
/// @param free, width  the other dimension of X, and its tiles'
double predict_triangular_gpu(const TileProblem& machine, Index order, Index free, Index tile, Index width) {
  const auto side = static_cast<double>(std::min(tile, order)), wide = static_cast<double>(std::min(width, free));
  const double flops = machine.flops_per_multiply_add * side * side * wide;
  const double product = machine.rates.gpu.seconds(flops) + task_overhead;
  const double diagonal = machine.rates.gpu.seconds(flops / 2) + row_latency * side + task_overhead;
  const auto rows = static_cast<double>(divide_up(order, tile));
  const Index columns = divide_up(free, width);
  const Index sharers = std::max<Index>(1, machine.gpus / columns);  // of the rows of one column
  const double column = rows * diagonal + rows * (rows - 1) / 2 * product / static_cast<double>(sharers);
  const double bytes =
      machine.element_size * static_cast<double>(order) * (static_cast<double>(order) / 2 + static_cast<double>(free));
  const double ends = machine.element_size * (side * side + 2 * side * wide) / machine.rates.link;
  const auto share = static_cast<double>(divide_up(columns, std::min<Index>(columns, machine.gpus)));
  return std::max(share * column, bytes / (machine.rates.link * machine.gpus)) + ends;
}

ProductTiles choose_triangular_for_gpus(const TileProblem& machine, Index order, Index free, Index fixed) {
  ProductTiles best;
  best.seconds = std::numeric_limits<double>::infinity();
  const auto consider = [&](Index tile, Index width) {
    const double seconds = predict_triangular_gpu(machine, order, free, tile, width);
    if (seconds < best.seconds) best = {tile, width, tile, seconds, ""};
  };
  if (fixed > 0) {
    consider(fixed, fixed);
  } else {
    for (const Index tile : gpu_candidates)
      for (const Index width : gpu_candidates) {
        const double elements = static_cast<double>(tile) * static_cast<double>(std::max(tile, width));
        const bool enough = divide_up(free, width) >= columns_per_gpu * machine.gpus || width == gpu_candidates.front();
        if (enough && machine.element_size * elements <= largest_tile_bytes) consider(tile, width);
      }
  }
  std::ostringstream reason;
  reason << (fixed > 0 ? "asked for" : "shortest predicted time") << ": " << divide_up(order, best.m)
         << " tiles on the diagonal, " << divide_up(free, best.n) << " independent columns of tiles for "
         << machine.gpus << " GPU" << (machine.gpus > 1 ? "s" : "");
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

namespace {

/// Tiles for a matrix on the right are those of the transposed problem.
ProductTiles turned(Side side, ProductTiles tiles) {
  if (side == Side::Right) std::swap(tiles.m, tiles.n);
  return tiles;
}

}  // namespace

ProductTiles choose_product_tiles(const TileProblem& machine, Index m, Index n, Index k, Index fixed) {
  m = std::max<Index>(m, 1), n = std::max<Index>(n, 1), k = std::max<Index>(k, 1);
  return machine.gpus > 0 ? choose_for_gpus(machine, m, n, k, false, fixed)
                          : choose_product_for_cpus(machine, m, n, k, fixed);
}

ProductTiles choose_triangle_tiles(const TileProblem& machine, Index n, Index k, int products, Index fixed) {
  n = std::max<Index>(n, 1), k = std::max<Index>(k, 1);
  return machine.gpus > 0 ? choose_for_gpus(machine, n, n, products * k, true, fixed)
                          : choose_triangle_for_cpus(machine, n, k, products, fixed);
}

ProductTiles choose_symmetric_tiles(const TileProblem& machine, Side side, Index m, Index n, Index fixed) {
  const Index order = std::max<Index>(side == Side::Left ? m : n, 1),
              free = std::max<Index>(side == Side::Left ? n : m, 1);
  return turned(side, machine.gpus > 0 ? choose_for_gpus(machine, order, free, order, false, fixed)
                                       : choose_sided_for_cpus(machine, side, order, free, Rows::Independent, fixed));
}

ProductTiles choose_triangular_tiles(const TileProblem& machine, Side side, Index m, Index n, Index fixed) {
  const Index order = std::max<Index>(side == Side::Left ? m : n, 1),
              free = std::max<Index>(side == Side::Left ? n : m, 1);
  return turned(side, machine.gpus > 0 ? choose_triangular_for_gpus(machine, order, free, fixed)
                                       : choose_sided_for_cpus(machine, side, order, free, Rows::Dependent, fixed));
}

Block choose_block(const TileProblem& machine, Index tile) {
  if (machine.gpus == 0) return {};
  const auto grid = owner_grid(machine.gpus);
  const double side = block_margin * smallest_block(machine, grid);
  auto per_gpu = std::max<Index>(3, static_cast<Index>(std::ceil(side / static_cast<double>(tile))));
  const double tile_bytes = machine.element_size * static_cast<double>(tile) * static_cast<double>(tile);
  // Beside s² tiles of C, a column and a row of input tiles, and as many again that arrive.
  const auto fits = [&](Index s, Index copies) {
    const auto tiles = static_cast<double>(copies * s * s + 4 * s);
    return machine.gpu_memory <= 0 || tiles * tile_bytes <= machine.gpu_memory;
  };
  // A smaller block that leaves room for copies starts sooner; half the size is what the links need at least.
  const auto smallest_roomy = std::max<Index>(1, divide_up(per_gpu, static_cast<Index>(block_margin)));
  Index roomy = per_gpu;
  while (roomy > smallest_roomy && !fits(roomy, 2)) roomy--;
  const bool room_for_two = fits(roomy, 2);
  if (room_for_two) per_gpu = roomy;
  while (per_gpu > 1 && !fits(per_gpu, 1)) per_gpu--;
  Block block{per_gpu * grid.p, per_gpu * grid.q, room_for_two};
  if (machine.gpu_memory > 0) {
    const double left = machine.gpu_memory / tile_bytes - static_cast<double>(per_gpu * per_gpu);
    block.kept = static_cast<Index>(std::max(0.0, left / static_cast<double>(2 * per_gpu)));
  }
  return block;
}

Index choose_default_tile(const TileProblem& machine) {
  constexpr Index for_cpus = 512;  // a task of some milliseconds on any core of today
  if (machine.gpus == 0) return for_cpus;
  return *std::ranges::find_if(gpu_candidates, [&](Index tile) {
    return kernel_rate(machine, tile) >= 0.9 * machine.rates.gpu.best_rate() || tile == gpu_candidates.back();
  });
}

}  // namespace tessera::detail
