// SPDX-License-Identifier: BSD-3-Clause
#include "tile_size_gpu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "block.hpp"
#include "candidate_tiles.hpp"
#include "core_share.hpp"
#include "gpu_costs.hpp"
#include "link_bound.hpp"
#include "panels.hpp"
#include "split.hpp"

namespace tessera::detail {

namespace {

/// The ratio of height to width up to which the flops determine a kernel's time. Narrower tiles are slower.
constexpr Index narrowest = 4;

/// C (m×n) ← the sum of `products` products of op(A) (m×k) and op(B) (k×n), or one triangle of it.
struct Product {
  Index m, n, k;
  int products = 1;
  bool triangle = false;
  bool update =
      false;  ///< whether the second factors are transposes of the first, so tiles of both have the same height
  Transposed stored;
  bool stored_c = false;  ///< whether C is stored as its transpose
};

/// Whether the whole problem fits into the GPUs' memory.
bool in_core(const MachineModel& machine, const Product& p) {
  const auto grid = owner_grid(machine.gpus);
  const double whole =
      machine.bytes(p.m, p.k) / grid.p + machine.bytes(p.k, p.n) / grid.q + machine.bytes(p.m, p.n) / grid.size();
  return machine.gpu_memory <= 0 || whole <= machine.gpu_memory;
}

/// How often A and B are copied to the GPUs in total. Out of core, they are copied once per block of C, except for the
/// parts that remain from the previous block.
struct Passes {
  double a = 1, b = 1;
  double blocks = 1;
};
Passes passes(const MachineModel& machine, const Product& p, TileExtents tile) {
  if (in_core(machine, p)) return {};
  const auto block = choose_block(machine, tile);
  const auto blocks = [](Index extent, Index size) {
    return static_cast<double>(divide_up(extent, std::max<Index>(1, size)));
  };
  const double rows = blocks(p.m, block.rows * tile.m), columns = blocks(p.n, block.columns * tile.n),
               terms = blocks(p.k, tile.k);
  return {columns - (columns - 1) / (terms * rows), rows - (rows - 1) / terms, rows * columns};
}

/// The cost of wide tiles in long calls on several GPUs. The GPUs reach their power limit, and lower their clocks more
/// than with narrow tiles. All machines are assumed to behave this way. Out of core, the cost is ignored: copies
/// dominate, and narrow tiles need more of them.
constexpr double wide_cost = 0.1, unlimited_for = 0.1;  // fraction of the time; seconds before the limit
double slowed_down(const MachineModel& machine, TileExtents tile, double compute, bool in_core) {
  const bool wide = narrowest * tile.n > tile.m;
  return machine.gpus > 1 && in_core && wide ? wide_cost * std::max(0.0, compute - unlimited_for) : 0;
}

/// GPUs get unequal shares of a triangle and finish at different times. The difference is this fraction of the time of
/// one tile's sum.
constexpr double unequal_ends = 0.14;

/// The predicted time [s]. The arithmetic of the busiest GPU overlaps with the transfers. The start and the end do not:
/// at the start, the tiles of one product must arrive; at the end, one tile must be written back.
double predict(const MachineModel& machine, const Product& p, TileExtents tile) {
  const auto grid = owner_grid(machine.gpus);
  const auto mt = divide_up(p.m, tile.m), nt = divide_up(p.n, tile.n);
  const double m = min(tile.m, p.m), n = min(tile.n, p.n), k = min(tile.k, p.k);
  const double flops = machine.flops_per_multiply_add * m * n * k, task = task_seconds(machine, flops);
  const auto cost = [&](double part) { return task_seconds(machine, part * flops) / task; };
  const auto share = [&](Index whole, Index extent, int gpus) {
    return largest_share(whole, std::min(extent, whole), gpus, cost);
  };
  // A diagonal tile of a triangle counts half. With several GPUs, the busiest GPU has no tiles at an edge. The last
  // column counts as a full one.
  const auto of_triangle = [&] {
    const double height = grid.size() > 1 ? 1 : share(p.m, tile.m, 1) / static_cast<double>(mt);
    return std::max(0.5, std::ceil(static_cast<double>(mt * nt) / grid.size()) / 2) * height;
  };
  const double tiles = p.triangle ? of_triangle() : share(p.m, tile.m, grid.p) * share(p.n, tile.n, grid.q);
  const double chunks = share(p.k, tile.k, 1);
  const double sum = chunks * p.products * task;
  const Index whole_tiles = p.triangle ? divide_up(mt * nt, 2) : mt * nt;
  const double on_a_core = chunks * p.products * machine.rates.cpu.seconds(flops);
  const double compute = share_of_cores(machine, tiles * sum, whole_tiles, on_a_core).seconds;

  const auto M = static_cast<double>(p.m), N = static_cast<double>(p.n), K = static_cast<double>(p.k);
  const auto again = passes(machine, p, tile);
  const auto of_each_gpu = [&](double a, double b, double c) {  // a, b, c: cost per element of A, B and C
    const double factors = p.update ? p.products * again.a * M * K * a : again.a * M * K * a + again.b * K * N * b;
    return (factors + (p.triangle ? M * N / 2 : M * N) * c) / grid.size();
  };
  const double element = machine.element_size;
  const double busy = busy_part(machine, compute, of_each_gpu(element, element, element));
  const double a = element * copy_cost(machine, p.stored.a ? k : m, busy),
               b = element * copy_cost(machine, p.stored.b ? n : k, busy),
               c = element * copy_cost(machine, p.stored_c ? n : m, busy);
  const double in = of_each_gpu(a, b, c), last = m * n * c;
  // A diagonal tile of an update needs one tile of each input.
  const double first = p.update ? p.products * m * k * a : m * k * a + k * n * b;
  // Out of core, each block of C waits for its first tiles. Empty blocks outside a triangle also count; otherwise the
  // tiles of syr2k would be too large.
  const double blocks = again.blocks;
  const double apart = p.triangle && machine.gpus > 1 ? unequal_ends * sum : 0;
  return overlapped(compute, in) + blocks * first + last + apart + slowed_down(machine, tile, compute, blocks == 1);
}

/// The height of tiles out of core, at which columns of doubles are copied at the full rate while the GPU computes.
/// Copies are the bottleneck there. Although tall tiles arrive later, they may be twice as large as others and twice as
/// narrow.
constexpr Index tall_tile = 8192;
bool is_tall(TileExtents tile) { return tile.m >= tall_tile; }

/// The number of tiles of C per GPU below which tiles may be half as wide as `narrowest` allows. With too few tiles, a
/// GPU has nothing to compute while it waits for one, which is worse than slower kernels.
constexpr Index enough_tiles = 8;

bool too_narrow(const MachineModel& machine, const Product& p, TileExtents tile) {
  if ((is_tall(tile) ? 2 : 1) * narrowest * tile.n >= tile.m) return false;
  const Index twice_as_wide = divide_up(p.m, tile.m) * divide_up(p.n, 2 * tile.n) / (p.triangle ? 2 : 1);
  return 2 * narrowest * tile.n < tile.m || twice_as_wide >= enough_tiles * machine.gpus;
}

constexpr Index small_tile = 512;

/// Whether a small result on several GPUs has so many tiles that the overhead outweighs the gain.
bool too_many(const MachineModel& machine, Index m, Index n, TileExtents tile) {
  const bool small = machine.gpus > 1 && std::min(m, n) >= 2 * small_tile && std::max(m, n) < 4 * small_tile;
  return small && tile.m <= small_tile && tile.n < small_tile;
}

/// The shortest chunk of k. Chunks are at least as long as tiles of C are high, up to the largest candidate: with more
/// chunks, each tile of C waits longer for its next task. In core, an update that would have eight or more chunks has
/// chunks of twice this length.
Index shortest_chunk(const MachineModel& machine, const Product& p, Index rows) {
  const bool twice = p.update && divide_up(p.k, rows) >= 8 && in_core(machine, p);
  return std::min(twice ? 2 * rows : rows, candidates.back());
}

/// The tile heights to compare. Out of core, the lowest heights are left out: short tiles are loaded more often than
/// predicted, and their short columns are copied slowly throughout the call.
std::vector<Index> heights(const MachineModel& machine, const Product& p) {
  constexpr Index high = 2048;
  std::vector<Index> all(candidates.begin(), candidates.end());
  if (in_core(machine, p)) return all;
  if (p.products == 1 && fits(machine, {high, high, high}, p.update))
    std::erase_if(all, [](Index m) { return m < high; });
  if (!p.triangle && !p.stored.a) all.push_back(tall_tile);
  return all;
}

/// Whether a product can be one task, on the only GPU, which has all operands. StarPU counts a tile's elements in 32
/// bits.
bool can_be_one_task(const MachineModel& machine, const Product& p) {
  const double element = machine.element_size, a = machine.bytes(p.m, p.k), b = machine.bytes(p.k, p.n),
               c = machine.bytes(p.m, p.n);
  return !machine.copies && !p.triangle && p.products == 1 && std::max({a, b, c}) / element < 0x1p31 &&
         a + b + c <= machine.gpu_memory / 2;
}

/// The fastest tiles for which `possible` and `allowed` are true. Tiles that are not allowed are compared, but not
/// chosen. Tiles are wider than high only if B is stored transposed, because the stored columns of its tiles are as
/// long as the tile is wide.
template <typename Possible, typename Allowed>
ChosenTiles choose(const MachineModel& machine, const Product& p, Index fixed, Possible possible, Allowed allowed) {
  ChosenTiles best;
  best.seconds = std::numeric_limits<double>::infinity();
  const auto consider = [&](TileExtents tile, bool may_be_chosen = true) {
    const double seconds = predict(machine, p, tile);
    const ChosenTiles tiles{tile.m, tile.n, tile.k, seconds, ""};
    if (machine.compared != nullptr) machine.compared->push_back(tiles);
    if (may_be_chosen && seconds < best.seconds) best = tiles;
  };
  const auto smallest = candidates.front();
  if (fixed > 0) consider({fixed, fixed, fixed});
  else
    for (const Index m : heights(machine, p))
      for (const Index n : candidates)
        for (const Index k : candidates)
          if (const TileExtents tile{m, n, k};
              possible(tile) && k >= shortest_chunk(machine, p, m) && !too_narrow(machine, p, tile) &&
              (n <= m || p.stored.b) &&
              fits(machine, tile, p.update, is_tall(tile) ? 2 * largest_tile_bytes : largest_tile_bytes))
            if (const bool allows = allowed(tile); allows || machine.compared != nullptr) consider(tile, allows);
  if (best.m == 0) consider({smallest, smallest, smallest});
  if (fixed == 0 && can_be_one_task(machine, p)) consider({p.m, p.n, p.k});

  const double flops = machine.flops_per_multiply_add * min(best.m, p.m) * min(best.n, p.n) * min(best.k, p.k);
  std::ostringstream reason;
  reason.precision(3);
  reason << (fixed > 0 ? "asked for" : "shortest predicted time") << ": kernel at "
         << 1e-12 * flops / machine.rates.gpu.seconds(flops) << " of " << machine.rates.gpu.best_rate() * 1e-12
         << " TFLOP/s, ";
  if (machine.copies)
    reason << "columns of a tile of A copied at "
           << 1e-9 / copy_cost(machine, min(p.stored.a ? best.k : best.m, p.stored.a ? p.k : p.m), 1) << " of "
           << machine.rates.link * 1e-9 << " GB/s, ";
  reason << divide_up(p.m, best.m) << "x" << divide_up(p.n, best.n) << " tiles of C for " << machine.gpus << " GPU"
         << (machine.gpus > 1 ? "s" : "");
  best.reason = reason.str();
  return best;
}

/// The tiles, with the limit of the links added to their reason. In core, C is one block.
ChosenTiles with_bound(const MachineModel& machine, const Product& p, ChosenTiles tiles) {
  if (!machine.copies || std::min({p.m, p.n, p.k}) < 1) return tiles;
  Index m = p.m, n = p.n;
  if (!in_core(machine, p)) {
    const auto block = choose_block(machine, {tiles.m, tiles.n, tiles.k});
    if (block.rows > 0) m = std::min(m, block.rows * tiles.m), n = std::min(n, block.columns * tiles.n);
  }
  const double flops = machine.flops_per_multiply_add * min(tiles.m, p.m) * min(tiles.n, p.n) * min(tiles.k, p.k);
  tiles.reason += "; " + link_bound(machine, flops / machine.rates.gpu.seconds(flops), m, n, p.k).text();
  return tiles;
}

}  // namespace

/// The maximum ratio between the times of panels and of tiles for which panels of a product are chosen. It exceeds 1
/// because a panel with all rows of a matrix without padding is contiguous in memory, which the prediction ignores.
constexpr double contiguous_panels = 1.02;

ChosenTiles choose_product_for_gpus(const MachineModel& machine, Transposed stored, Index m, Index n, Index k,
                                    Index fixed) {
  const Product product{.m = m, .n = n, .k = k, .stored = stored};
  const auto tiles = choose(
      machine, product, fixed, [](TileExtents) { return true; },
      [&](TileExtents tile) { return !too_many(machine, m, n, tile); });
  if (fixed > 0 || stored.a) return with_bound(machine, product, tiles);
  return with_bound(machine, product,
                    stored.b ? faster(machine, tiles, choose_panels_transposed(machine, m, n, k))
                             : faster(machine, tiles, choose_panels(machine, m, n, k), contiguous_panels));
}

/// The minimum number of tiles of a triangle per GPU, unless tiles are small. With fewer, a GPU has nothing to compute
/// while it waits for a tile. Fewer small tiles are better.
constexpr Index least_tiles = 2;

ChosenTiles choose_triangle_for_gpus(const MachineModel& machine, Transposed stored, Index n, Index k, TriangleOf what,
                                     Index fixed) {
  const Product product{.m = n,
                        .n = n,
                        .k = k,
                        .products = products(what),
                        .triangle = true,
                        .update = what != TriangleOf::Product,
                        .stored = stored};
  const auto possible = [](TileExtents tile) { return tile.n <= tile.m; };
  auto tiles = choose(machine, product, fixed, possible, [&](TileExtents tile) {
    const bool enough = divide_up(n, tile.m) * divide_up(n, tile.n) >= 2 * least_tiles * machine.gpus;
    if (machine.gpus > 1 && n > small_tile && n < 4 * small_tile)
      return tile.n >= small_tile && (enough || tile.m == small_tile);
    return enough;
  });
  if (fixed > 0 || stored.a || !product.update) return tiles;
  // Panels are faster than predicted, and tiles are slower.
  return faster(machine, tiles, choose_update_panels(machine, n, k, what), 1.1);
}

ChosenTiles choose_symmetric_for_gpus(const MachineModel& machine, Side side, Index order, Index free, Index fixed) {
  const bool transposed = side == Side::Right;
  auto tiles = choose(
      machine, {.m = order, .n = free, .k = order, .stored = {false, transposed}, .stored_c = transposed}, fixed,
      [](TileExtents tile) { return tile.m == tile.k; },
      [&](TileExtents tile) { return !too_many(machine, order, free, tile); });
  if (fixed > 0 || side == Side::Right) return tiles;
  return faster(machine, tiles, choose_symmetric_panels(machine, order, free));
}

Index smallest_fast_tile(const MachineModel& machine) {
  return *std::ranges::find_if(candidates, [&](Index tile) {
    const double flops = machine.flops_per_multiply_add * std::pow(static_cast<double>(tile), 3);
    return flops / machine.rates.gpu.seconds(flops) >= 0.9 * machine.rates.gpu.best_rate() || tile == candidates.back();
  });
}

}  // namespace tessera::detail
