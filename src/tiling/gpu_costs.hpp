// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/types.hpp>

#include "machine_model.hpp"

/// Costs of tasks and copies on GPUs.
namespace tessera::detail {

/// The time that a tile task takes on a GPU in addition to its kernel [s]. Between two kernels, StarPU releases the
/// successors and starts their transfers.
inline constexpr double task_overhead = 20e-6;

/// The limit for tiles: larger ones take too long to arrive before the first product, and to be written back after the
/// last.
inline constexpr double largest_tile_bytes = 1 << 27;

/// The time of a task: its kernel, and StarPU's work [s].
inline double task_seconds(const MachineModel& machine, double flops) {
  return machine.rates.gpu.seconds(flops) + task_overhead;
}

inline double min(Index tile, Index extent) { return static_cast<double>(std::min(tile, extent)); }

/// The minimum time of a column in a GPU's copy engine [s]. If it were ignored, the chosen tiles would be too small.
inline constexpr double shortest_column = 0.12e-6;

/// The time per byte on one host link [s]. A stored column is one contiguous piece of memory, and copies of short
/// pieces are slow, especially while the GPU computes. A tile with very few rows is probably a whole matrix, whose
/// columns are usually contiguous.
/// @param rows  rows of the tile as stored
/// @param busy  fraction of the time in which the GPU computes
inline double copy_cost(const MachineModel& machine, double rows, double busy) {
  if (!machine.copies) return 0;
  constexpr double least_part = 256;
  const double bytes = machine.element_size * rows, part = machine.element_size * std::max(rows, least_part);
  const double idle = std::max(1 / machine.rates.link, shortest_column / part);
  const double computing = machine.rates.column.empty() ? idle : machine.rates.column.seconds(bytes) / bytes;
  return idle + busy * std::max(0.0, computing - idle);
}

/// The fraction of its copy time in which a GPU also computes.
/// @param compute  computing time of one GPU [s]
/// @param bytes    bytes that one GPU copies
inline double busy_part(const MachineModel& machine, double compute, double bytes) {
  return std::min(1.0, compute * machine.rates.link / bytes);
}

}  // namespace tessera::detail
