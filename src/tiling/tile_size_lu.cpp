// SPDX-License-Identifier: BSD-3-Clause
// Chooses panels for an LU factorization with partial pivoting.
#include <algorithm>
#include <string>

#include "planning.hpp"
#include "split.hpp"
#include "tile_size.hpp"

namespace tessera::detail {

namespace {

/// Widths on GPUs. Wide panels mean fewer and longer tasks, but nothing overlaps with the factorization of the first
/// and last panels.
constexpr Index widest_on_gpus = 2048, narrowest_on_gpus = 256, for_each_gpu = 4;

/// Rows of a tile on GPUs. They are written back together once the last row is final. Short columns are copied slowly.
constexpr Index most_rows_on_gpus = 4096, least_rows_on_gpus = 2048, tiles_below_one_another = 4;

/// Widths on CPUs, where one core factorizes a panel.
constexpr Index widest_on_cpus = 128, narrowest_on_cpus = 32, for_each_core = 16;

/// The widest panels such that the cores factorize all panels (n² w / 2 flops) in at most half of the time that the
/// GPUs need for all updates (2 n³ / 3 flops).
double widest_of_cores(const MachineModel& machine, Index order, double panel_rate) {
  const double updates = machine.gpus * machine.rates.others * machine.rates.gpu.best_rate();
  return 2.0 / 3 * static_cast<double>(order) * panel_rate / updates;
}

Index width_for(const MachineModel& machine, Index order, double panel_rate) {
  const bool on_gpus = machine.gpus > 0;
  Index wanted = on_gpus ? order / (for_each_gpu * machine.gpus) : order / for_each_core;
  if (panel_rate > 0) wanted = std::min(wanted, static_cast<Index>(widest_of_cores(machine, order, panel_rate)));
  Index width = on_gpus ? narrowest_on_gpus : narrowest_on_cpus;
  while (2 * width <= std::min(wanted, on_gpus ? widest_on_gpus : widest_on_cpus)) width *= 2;
  return width;
}

/// The number of panels that must fit into a GPU's memory: the updated panel, the panel that updates it, and the next
/// panels of both kinds.
constexpr double panels_in_memory = 4;
constexpr Index most_panel_elements = Index{1} << 31;  // in a panel, because StarPU multiplies sizes in 32 bits

}  // namespace

bool panel_fits(const MachineModel& machine, Index rows, Index width) {
  const bool in_memory = machine.gpus == 0 || machine.gpu_memory <= 0 ||
                         panels_in_memory * machine.bytes(rows, width) <= machine.gpu_memory;
  return in_memory && rows <= most_panel_elements / width;
}

ChosenTiles choose_lu_panel(const MachineModel& machine, Index rows, Index order, Index fixed, double panel_rate) {
  Index width = fixed > 0 ? fixed : width_for(machine, order, panel_rate);
  while (fixed == 0 && width > 1 && !panel_fits(machine, rows, width)) width /= 2;
  ChosenTiles chosen;
  chosen.n = chosen.k = width;
  // Tiles have a multiple of the panel width as rows, so that each diagonal block lies in one tile.
  const Index rows_on_gpus = std::clamp(rows / tiles_below_one_another, least_rows_on_gpus, most_rows_on_gpus);
  const Index rows_of_tile = std::max(rows_on_gpus, divide_up(rows, most_tiles_of_panel));
  chosen.m = machine.gpus > 0 ? divide_up(rows_of_tile, width) * width : std::max<Index>(1, rows);
  chosen.reason = std::string(fixed > 0 ? "asked for" : "by the order of the matrix") + ": " +
                  std::to_string(divide_up(std::max<Index>(order, 1), width)) + " panels with pivots";
  return chosen;
}

}  // namespace tessera::detail
