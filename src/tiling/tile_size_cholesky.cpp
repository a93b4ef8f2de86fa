// SPDX-License-Identifier: BSD-3-Clause
// Chooses square tiles for a factorization without pivoting, Cholesky or LU, on CPU workers or on GPUs.
#include <algorithm>
#include <limits>
#include <string>

#include "gpu_costs.hpp"
#include "split.hpp"
#include "tile_size.hpp"

namespace tessera::detail {

namespace {

/// Numbers of tasks.
struct Tasks {
  double products, updates, solves, panels;  ///< gemm, syrk, trsm, and potrf or getrf_nopiv
};

/// The differences between the two factorizations.
struct Factorization {
  Index m, n;
  bool symmetric;

  Index order() const { return std::min(m, n); }

  /// @param exact  whether a smaller tile at an edge counts in proportion to its size instead of as a whole tile
  Tasks tasks(Index tile, bool exact) const {
    const auto count = [&](Index whole, Index part) {
      return exact ? static_cast<double>(whole) / min(part, whole) : static_cast<double>(divide_up(whole, part));
    };
    const double t = count(order(), tile);
    if (symmetric) return {std::max(0.0, t * (t - 1) * (t - 2) / 6), t * (t - 1) / 2, t * (t - 1) / 2, t};
    // Step k multiplies (rows - k - 1) tiles by (columns - k - 1) tiles, and solves with the same tiles.
    const double rows = count(m, tile), columns = count(n, tile);
    const double others = rows + columns - 2, steps = t * (t - 1) / 2;
    const double products = t * (rows - 1) * (columns - 1) - steps * others + steps * (2 * t - 1) / 3;
    return {products, 0, t * others - 2 * steps, t};
  }
  double bytes(const MachineModel& machine) const { return machine.bytes(m, n) / (symmetric ? 2 : 1); }
  /// The arithmetic on a diagonal tile, relative to a product of the same order.
  double panel_work() const { return symmetric ? 1.0 / 6 : 1.0 / 3; }
  /// The time of factorizing a tile, per row [s].
  double gpu_panel_row() const { return symmetric ? 0.45e-6 : 0.8e-6; }
  /// The time to invert the diagonal blocks of one factor [s], which is that of a few products of the same order.
  double gpu_panel() const { return symmetric ? 0.15e-3 : 0.3e-3; }
};

/// The maximum of: the sum of the arithmetic and the panels; the transfers; the chain of panels, each of which waits
/// for the previous one. One GPU cannot overlap a panel with anything.
double predict_on_gpus(const MachineModel& machine, const Factorization& what, Index tile) {
  // With several GPUs, the balance depends on the number of tiles, so small tiles at the edges count fully.
  const auto tasks = what.tasks(tile, machine.gpus == 1);
  const double rows = min(tile, what.order()), flops = machine.flops_per_multiply_add * rows * rows * rows;
  const double product = task_seconds(machine, flops), half = task_seconds(machine, flops / 2);
  const double panel = what.gpu_panel() + what.gpu_panel_row() * rows;
  const double compute =
      (tasks.products * product + (tasks.updates + tasks.solves) * half + tasks.panels * panel) / machine.gpus;
  const double chain = tasks.panels * (panel + 2 * half);
  const double bytes = what.bytes(machine) / machine.gpus;
  const double cost = copy_cost(machine, rows, busy_part(machine, compute, bytes));
  const double transfers = bytes * cost, one_tile = machine.bytes(tile, tile) * cost;
  // The first column arrives before there is much to compute.
  const double start = machine.bytes(what.m, std::min(tile, what.n)) / machine.gpus * cost / 2;
  return std::max({compute, transfers, chain}) + std::min(compute, transfers) / 8 + start + one_tile;
}

/// The rate at which OpenBLAS factorizes a tile, relative to its rate for products.
constexpr double cpu_panel_rate = 0.6;
constexpr double cpu_submission = 10e-6;

/// The time to pack the operands of a product, relative to the arithmetic, times the order of the tile.
constexpr double cpu_packing = 80;

double predict_on_cpus(const MachineModel& machine, const Factorization& what, Index tile) {
  const auto tasks = what.tasks(tile, false);
  const double rows = min(tile, what.order()), flops = machine.flops_per_multiply_add * rows * rows * rows;
  const double slower = 1 + cpu_packing / rows;
  const auto seconds = [&](double f) { return f * slower / machine.rates.cpu.best_rate() + cpu_submission; };
  const double half = seconds(flops / 2), panel = seconds(flops * what.panel_work() / cpu_panel_rate);
  const double compute =
      (tasks.products * seconds(flops) + (tasks.updates + tasks.solves) * half + tasks.panels * panel) /
      machine.cpu_workers;
  // In the last steps, as many as there are workers, there are fewer tiles than workers.
  const double chain = panel + 2 * half;
  return std::max(compute, tasks.panels * chain) + std::min<double>(machine.cpu_workers, tasks.panels) * chain / 2;
}

/// Whether a GPU has room for the tiles of two products, and for the tiles fetched for the next ones.
bool tile_fits(const MachineModel& machine, Index tile) {
  constexpr double least_room = 8;
  const double bytes = machine.bytes(tile, tile);
  return bytes <= largest_tile_bytes && (machine.gpu_memory <= 0 || least_room * bytes <= machine.gpu_memory);
}

ChosenTiles choose_square_tiles(const MachineModel& machine, const Factorization& what, Index fixed) {
  const bool on_gpus = machine.gpus > 0;
  ChosenTiles best;
  best.seconds = std::numeric_limits<double>::infinity();
  const auto consider = [&](Index tile) {
    const double seconds = on_gpus ? predict_on_gpus(machine, what, tile) : predict_on_cpus(machine, what, tile);
    if (seconds < best.seconds) best = {tile, tile, tile, seconds, ""};
  };
  if (fixed > 0) {
    consider(fixed);
  } else if (on_gpus) {
    for (const Index tile : {256, 512, 1024, 2048, 4096})
      if (tile == 256 || tile_fits(machine, tile)) consider(tile);
  } else {
    for (Index tile = 64; tile <= 1024; tile += 32) consider(tile);
    if (what.order() <= 64) consider(what.order());
  }
  best.reason = std::string(fixed > 0 ? "asked for" : "shortest predicted time") + ": " +
                std::to_string(divide_up(what.order(), best.n)) + " panels for " +
                (on_gpus ? std::to_string(machine.gpus) + (machine.gpus > 1 ? " GPUs" : " GPU")
                         : std::to_string(machine.cpu_workers) + (machine.cpu_workers > 1 ? " workers" : " worker"));
  return best;
}

}  // namespace

ChosenTiles choose_cholesky_tiles(const MachineModel& machine, Index n, Index fixed) {
  n = std::max<Index>(n, 1);
  return choose_square_tiles(machine, {n, n, true}, fixed);
}

ChosenTiles choose_lu_nopiv_tiles(const MachineModel& machine, Index m, Index n, Index fixed) {
  return choose_square_tiles(machine, {std::max<Index>(m, 1), std::max<Index>(n, 1), false}, fixed);
}

}  // namespace tessera::detail
