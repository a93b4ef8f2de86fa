// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <sstream>
#include <vector>

#include "candidate_tiles.hpp"
#include "core_share.hpp"
#include "tile_size_gpu.hpp"

namespace tessera::detail {

namespace {

/// The time per row by which a task on a diagonal tile exceeds half a product [s]. The small diagonal blocks are
/// processed one after another.
constexpr double row_latency = 0.08e-6;

/// The minimum number of tile columns of X per GPU. With fewer, a GPU waits for the tiles of its columns. trsm needs
/// more than trmm, because the rows of a column depend on each other. In long columns, waiting is a smaller part of the
/// time.
Index columns_per_gpu(bool inverse, Index order) { return inverse && order < 8 * candidates.back() ? 4 : 2; }

/// The time of the tasks on one tile column of X [s].
/// @param product, diagonal  (double part): time of a task with this fraction of the rows of a full tile of the
///        triangle
/// @param sharers            number of workers that share the products
template <typename Product, typename Diagonal>
double column_seconds(Index order, Index tile, Product product, Diagonal diagonal, Index sharers) {
  const auto before_last = static_cast<double>(divide_up(order, tile) - 1);
  const double last = static_cast<double>(order) / min(tile, order) - before_last;
  const double products = before_last * (before_last - 1) / 2 * product(1) + before_last * product(last);
  return before_last * diagonal(1) + diagonal(last) + products / static_cast<double>(sharers);
}

/// The predicted time [s]: that of the busiest GPU, of the transfers, and of the start and the end. Each tile column of
/// X belongs to one GPU, which works through the rows. The last tile of the triangle, and of the columns, may be
/// smaller.
/// @param order  order of the triangular matrix
/// @param free   the other dimension of X
/// @param tile   order of a tile of the triangular matrix
/// @param width  size of a tile of X along `free`
double predict_triangular(const MachineModel& machine, Side side, Index order, Index free, Index tile, Index width) {
  const double rows = min(tile, order), wide = min(width, free);
  const double flops = machine.flops_per_multiply_add * rows * rows * wide;
  const auto product = [&](double part) { return task_seconds(machine, part * flops); };
  const auto diagonal = [&](double part) { return product(part * part / 2) + row_latency * part * rows; };
  const Index columns = divide_up(free, width);
  const Index sharers = std::max<Index>(1, machine.gpus / columns);  // GPUs that share the rows of one column
  const double column = column_seconds(order, tile, product, diagonal, sharers);
  const double share =
      largest_share(free, std::min(width, free), static_cast<int>(std::min<Index>(columns, machine.gpus)),
                    [&](double part) { return product(part) / product(1); });
  const double compute = share * column;
  const auto n = static_cast<double>(order), w = static_cast<double>(free);
  const auto of_each_gpu = [&](double a, double x) { return (n * n / 2 * a + n * w * x) / machine.gpus; };
  const double element = machine.element_size, busy = busy_part(machine, compute, of_each_gpu(element, element));
  const double a = element * copy_cost(machine, rows, busy),
               x = element * copy_cost(machine, side == Side::Left ? rows : wide, busy);
  const double ends = rows * rows * a + 2 * rows * wide * x;
  return overlapped(compute, of_each_gpu(a, x)) + ends;
}

/// The cost of narrow matrices on a core: a product takes as long as one with this number of additional columns at the
/// full rate.
constexpr Index lost_columns = 16;

/// The predicted time of a core for a tile column of X of this width [s].
double seconds_on_core(const MachineModel& machine, Index order, Index tile, Index width) {
  const double rows = min(tile, order);
  const double flops = machine.flops_per_multiply_add * rows * rows * static_cast<double>(width + lost_columns);
  const auto product = [&](double part) { return machine.rates.cpu.seconds(part * flops); };
  return column_seconds(
      order, tile, product, [&](double part) { return product(part * part / 2); }, 1);
}

/// The time that each tile of X on a core adds to the end of a call, when tiles are unregistered one after another [s].
constexpr double end_of_tile = 6e-6;

/// The minimum number of tile columns of X for each of several GPUs if cores also compute. With fewer, cores would slow
/// down the call.
constexpr Index least_columns_beside_cores = 3;

/// The maximum number of columns of X that cores can compute while the GPUs compute the rest. Each core gets the same
/// number, in tiles that are not wider than those of the GPUs.
/// @param predict  (Index columns): time in which the GPUs compute this number of columns of X [s]
template <typename Predict>
LastTiles columns_for_cores(const MachineModel& machine, Index order, Index free, Index tile, Index width,
                            Predict predict) {
  constexpr Index step = 16;
  const Index cores = machine.sharing_cores;
  if (cores == 0) return {};
  const auto cut = [&](Index steps) -> LastTiles {
    const Index tiles = divide_up(steps * step, width);
    return {cores * tiles, steps / tiles * step};
  };
  const auto end_first = [&](LastTiles columns) {
    const Index left = free - columns.whole();
    if (left <= 0) return false;
    const Index each = columns.count / cores;
    return cores_end_first(machine, static_cast<double>(each) * seconds_on_core(machine, order, tile, columns.extent),
                           predict(left));
  };
  // With several GPUs, each would have few columns, and the prediction of how they share them is inexact.
  const auto unbalanced = [&](LastTiles columns) {
    return machine.gpus > 1 && divide_up(free - columns.whole(), width) < least_columns_beside_cores * machine.gpus;
  };
  Index few = 0, many = free / (cores * step) + 1;
  while (many - few > 1) {
    const Index middle = (few + many) / 2;
    (end_first(cut(middle)) ? few : many) = middle;
  }
  return few > 0 && !unbalanced(cut(few)) ? cut(few) : LastTiles{};
}

/// @param tiles  tiles with the predicted time
std::string reason_of(const MachineModel& machine, const ChosenTiles& tiles, Index order, Index free, bool asked_for) {
  const int gpus = tiles.gpus > 0 ? tiles.gpus : machine.gpus;
  const auto& for_cores = tiles.columns_for_cores;
  std::ostringstream reason;
  reason << (asked_for ? "asked for" : "shortest predicted time") << ": " << divide_up(order, tiles.m)
         << " tiles on the diagonal, " << divide_up(free - for_cores.whole(), tiles.n)
         << " independent columns of tiles for " << gpus << " GPU" << (gpus > 1 ? "s" : "");
  if (for_cores.count > 0)
    reason << ", " << for_cores.count << " more of width " << for_cores.extent << " for " << machine.sharing_cores
           << " cores";
  return reason.str();
}

}  // namespace

ChosenTiles share_columns_with_cores(MachineModel machine, ChosenTiles tiles, Index order, Index free,
                                     const Rechoose& rechoose) {
  if (tiles.gpus > 0) machine.gpus = tiles.gpus;
  machine.rates.others = 1;  // the prediction accounts for the speed of each GPU
  const double of_column = tiles.seconds / static_cast<double>(free);
  Index width = tiles.n;  // narrow enough to leave each of several GPUs enough columns
  while (machine.gpus > 1 && width > candidates.front() &&
         divide_up(free, width) < 2 * least_columns_beside_cores * machine.gpus)
    width /= 2;
  const auto columns = columns_for_cores(machine, order, free, tiles.m, width,
                                         [&](Index left) { return of_column * static_cast<double>(left); });
  if (columns.count > 0) {
    const Index left = free - columns.whole();
    auto with = rechoose(left);
    const bool suits = with && with->gpus == tiles.gpus && with->n >= columns.extent;
    if (!suits) {
      with = tiles;
      with->seconds = of_column * static_cast<double>(left);
    }
    with->seconds += end_of_tile * static_cast<double>(columns.count * divide_up(order, with->m));
    with->columns_for_cores = columns;
    if (least_advantage_in_columns(machine.gpus).is_reached(with->seconds, tiles.seconds)) tiles = *with;
  }
  tiles.reason = reason_of(machine, tiles, order, free, false);
  return tiles;
}

ChosenTiles choose_triangular_for_gpus(const MachineModel& machine, Side side, bool inverse, Index order, Index free,
                                       Index fixed) {
  // With cores, tiles keep the order that is best without cores, which makes the two predictions comparable.
  const auto tiles = [&]() -> std::vector<Index> {
    if (machine.sharing_cores == 0) return {candidates.begin(), candidates.end()};
    auto alone = machine;
    alone.sharing_cores = 0;
    return {choose_triangular_for_gpus(alone, side, inverse, order, free, fixed).m};
  };
  ChosenTiles best;
  best.seconds = std::numeric_limits<double>::infinity();
  const auto consider = [&](Index tile, Index width) {
    const auto columns = columns_for_cores(machine, order, free, tile, width, [&](Index left) {
      return predict_triangular(machine, side, order, left, tile, width);
    });
    const Index left = free - columns.whole();
    const bool enough = fixed > 0 || width == candidates.front() ||
                        divide_up(left, width) >= columns_per_gpu(inverse, order) * machine.gpus;
    if (!enough) return;
    const auto tiles_for_cores = static_cast<double>(columns.count * divide_up(order, tile));
    const double seconds = predict_triangular(machine, side, order, left, tile, width) + end_of_tile * tiles_for_cores;
    if (seconds < best.seconds) best = {tile, width, tile, seconds, "", {}, 0, columns};
  };
  if (fixed > 0) {
    consider(fixed, fixed);
  } else {
    for (const Index tile : tiles())
      for (const Index width : candidates)
        if (tile == candidates.front() || fits(machine, {tile, width, tile})) consider(tile, width);
  }
  best.reason = reason_of(machine, best, order, free, fixed > 0);
  return best;
}

}  // namespace tessera::detail
