// SPDX-License-Identifier: BSD-3-Clause
#include "tile_size_cpu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "split.hpp"

namespace tessera::detail {

namespace {

constexpr Index most_elements = Index{1} << 31;  // in a tile, because StarPU multiplies sizes in 32 bits
constexpr Index largest_tile = Index{1} << 30;   // in a dimension, because the host BLAS takes sizes as int

constexpr double submission = 10e-6;  // time to submit a task and hand it to a worker [s]
constexpr double imbalance = 0.1;     // mean idle time of a worker at the end, in tasks

constexpr Index grain = 16;  // kernels are faster on columns of whole vectors

/// The number of pieces, at most `most`, into which `whole` can be cut.
Index most_pieces(Index whole, Index most) { return std::min(most, divide_up(whole, grain)); }

/// The tile size that cuts `whole` into `pieces` pieces.
Index cut(Index whole, Index pieces) {
  return std::min({whole, divide_up(divide_up(whole, pieces), grain) * grain, largest_tile});
}

/// The time to pack one operand, relative to the arithmetic at the best rate. OpenBLAS packs both operands for each
/// product: the time to pack op(B) is spread over the rows of the tile, and the time to pack op(A) over its columns.
/// @param length  rows or columns at which packing takes as long as the arithmetic, fitted to OpenBLAS. Small matrices,
///                which fit into a cache, deviate from the fit
/// @param tile    rows or columns of the tile
/// @param whole   rows or columns of the matrix
double packing(double length, Index tile, Index whole) {
  constexpr double cached = 128;
  const double stretch = std::max(1.0, cached / static_cast<double>(whole));
  return length / (stretch * static_cast<double>(std::min(tile, whole)));
}

/// The time of a product with k terms that computes a tile_m×tile_n tile of an m×n result [s].
double product_seconds(const MachineModel& machine, Index tile_m, Index tile_n, Index m, Index n, Index k) {
  constexpr double pack_b = 100, pack_a = 25;
  const auto rows = static_cast<double>(std::min(m, tile_m)), columns = static_cast<double>(std::min(n, tile_n));
  return machine.flops_per_multiply_add * rows * columns * static_cast<double>(k) / machine.rates.cpu.best_rate() *
         (1 + packing(pack_b, tile_m, m) + packing(pack_a, tile_n, n));
}

/// The time to add one partial sum of a tile to another [s]. It reads two streams and writes one.
double addition_seconds(const MachineModel& machine, Index tile_m, Index tile_n) {
  constexpr double bytes_per_second = 8e9;
  return 3 * machine.element_size * static_cast<double>(tile_m) * static_cast<double>(tile_n) / bytes_per_second;
}

/// The maximum number of partial sums per tile to consider. More than one needs additional memory, which is worthwhile
/// only if k is large compared with m and n. Otherwise the result is cut into more tiles instead.
Index most_sums(const MachineModel& machine, Index tiles, Index m, Index n, Index k) {
  constexpr Index long_sum = 16;
  return k < long_sum * std::max(m, n) ? 1 : sums_per_tile(machine.cpu_workers, tiles, k);
}

std::string reason(const MachineModel& machine, Index fixed, Index tasks) {
  return std::string(fixed > 0 ? "asked for" : "shortest predicted time; CPU workers read host memory in place") +
         ": " + std::to_string(tasks) + (tasks == 1 ? " task for " : " tasks for ") +
         std::to_string(machine.cpu_workers) + (machine.cpu_workers == 1 ? " worker" : " workers");
}

/// Keeps the tiles with the shortest predicted time.
struct Best {
  ChosenTiles tiles;
  Index tasks = 0;

  Best() { tiles.seconds = std::numeric_limits<double>::infinity(); }
  void consider(Index m, Index n, Index k, Index count, double seconds) {
    if (seconds >= tiles.seconds) return;
    tiles.m = m, tiles.n = n, tiles.k = k;
    tiles.seconds = seconds;
    tasks = count;
  }
};

Index most_tasks(const MachineModel& machine) { return Index{8} * machine.cpu_workers; }

}  // namespace

ChosenTiles choose_product_for_cpus(const MachineModel& machine, Index m, Index n, Index k, Index fixed) {
  Best best;
  const auto consider = [&](Index tile_m, Index tile_n, Index tile_k, Index sums) {
    const Index tasks = divide_up(m, tile_m) * divide_up(n, tile_n) * sums;
    const double task = product_seconds(machine, tile_m, tile_n, m, n, divide_up(k, sums));
    const double additions = static_cast<double>(sums - 1) * addition_seconds(machine, tile_m, tile_n);
    best.consider(tile_m, tile_n, tile_k, tasks,
                  (static_cast<double>(divide_up(tasks, machine.cpu_workers)) + imbalance) * task + additions +
                      static_cast<double>(tasks) * submission);
  };
  if (fixed > 0) {
    consider(fixed, fixed, fixed, 1);
  } else {
    const Index most = most_tasks(machine);
    for (Index rows = 1; rows <= most_pieces(m, most); rows++)
      for (Index columns = 1; columns <= most_pieces(n, most / rows); columns++) {
        const Index tile_m = cut(m, rows);
        const Index tile_n = std::min(cut(n, columns), most_elements / tile_m);
        const Index longest = most_elements / std::max(tile_m, tile_n);
        const Index sums = most_sums(machine, rows * columns, m, n, k);
        consider(tile_m, tile_n, std::min({k, largest_tile, longest}), 1);
        if (sums > 1) consider(tile_m, tile_n, std::min(cut(k, sums), longest), sums);
      }
  }
  best.tiles.reason = reason(machine, fixed, best.tasks);
  return best.tiles;
}

ChosenTiles choose_triangle_for_cpus(const MachineModel& machine, Index n, Index k, int products, Index fixed) {
  Best best;
  const auto consider = [&](Index tile, Index tile_k, Index sums) {
    const Index rows = divide_up(n, tile), squares = rows * (rows - 1) / 2;
    const double task = products * product_seconds(machine, tile, tile, n, n, divide_up(k, sums));
    // A diagonal tile is half a task, and full tasks run first. The load of the busiest worker is the mean load, or the
    // largest number of full tasks of one worker if that is more. The unit is half a task.
    const Index halves = std::max(divide_up((2 * squares + rows) * sums, machine.cpu_workers),
                                  2 * divide_up(squares * sums, machine.cpu_workers));
    const double additions = static_cast<double>(sums - 1) * addition_seconds(machine, tile, tile);
    best.consider(tile, tile, tile_k, (squares + rows) * sums,
                  (static_cast<double>(halves) / 2 + imbalance) * task + additions +
                      static_cast<double>((squares + rows) * sums) * submission);
  };
  if (fixed > 0) {
    consider(fixed, fixed, 1);
  } else {
    const Index most = most_pieces(n, 2 * most_tasks(machine));
    for (Index rows = 1; rows <= most && rows * (rows + 1) / 2 <= 2 * most_tasks(machine); rows++) {
      const Index tile = std::min(cut(n, rows), static_cast<Index>(std::sqrt(static_cast<double>(most_elements))));
      const Index sums = most_sums(machine, rows * (rows + 1) / 2, n, n, k);
      consider(tile, std::min({k, largest_tile, most_elements / tile}), 1);
      if (sums > 1) consider(tile, std::min(cut(k, sums), most_elements / tile), sums);
    }
  }
  best.tiles.reason = reason(machine, fixed, best.tasks);
  return best.tiles;
}

ChosenTiles choose_sided_for_cpus(const MachineModel& machine, Side side, Index order, Index free, Rows rows,
                                  Index fixed) {
  Best best;
  const bool left = side == Side::Left;
  const auto consider = [&](Index tile, Index width) {
    const Index count = divide_up(order, tile), columns = divide_up(free, width), workers = machine.cpu_workers;
    const double product = left ? product_seconds(machine, tile, width, order, free, std::min(tile, order))
                                : product_seconds(machine, width, tile, free, order, std::min(tile, order));
    const auto blocks = static_cast<double>(count), lines = static_cast<double>(columns);
    double seconds = 0, tasks = 0;
    if (rows == Rows::Independent) {  // a chain of `count` tasks for each tile of the result
      tasks = blocks * blocks * lines;
      seconds = (static_cast<double>(divide_up(count * columns, workers)) + imbalance) * blocks * product;
    } else {  // the mean load of the workers, or the critical path through the rows of one column if that is longer
      tasks = blocks * (blocks + 1) / 2 * lines;
      const double column = blocks * blocks / 2 * product, path = (1.5 * blocks - 1) * product;
      const double shared = column * lines / static_cast<double>(workers);
      seconds = count == 1 ? static_cast<double>(divide_up(columns, workers)) * column
                           : std::max(std::max(shared, column / static_cast<double>(workers)), path);
      seconds += imbalance * column / blocks;
    }
    best.consider(tile, width, tile, static_cast<Index>(tasks), seconds + tasks * submission);
  };
  if (fixed > 0) {
    consider(fixed, fixed);
  } else {
    const Index most = most_tasks(machine);
    for (Index count = 1; count <= most_pieces(order, most) && count * count <= 4 * most; count++)
      for (Index columns = 1; columns <= most_pieces(free, std::min(most, 4 * most / count)); columns++) {
        const Index tile =
            std::min(cut(order, count), static_cast<Index>(std::sqrt(static_cast<double>(most_elements))));
        consider(tile, std::min(cut(free, columns), most_elements / tile));
      }
  }
  best.tiles.reason = reason(machine, fixed, best.tasks);
  return best.tiles;
}

}  // namespace tessera::detail
