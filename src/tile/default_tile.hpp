// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "machine/machine.hpp"
#include "machine/machine_rates.hpp"

namespace tessera::tile {

/// The order of the tiles of a matrix that the program registers without one: `Machine::tile`, or if it is not set, the
/// smallest with which products on a GPU reach 90 % of their best rate; 512 without GPUs. It depends only on the
/// machine and the type, so such matrices are conformable.
/// @param type  letter of the elements: s, d, c or z
inline Index default_tile(const machine::Machine& machine, char type) {
  constexpr Index for_cores = 512, smallest = 256, largest = 4096;  // on a core, a task then takes a few milliseconds
  constexpr double most_of_rate = 0.9;
  if (machine.tile > 0) return machine.tile;
  if (machine.gpu_count() == 0) return for_cores;
  const auto& gpu = machine::machine_rates(machine, type).gpu;
  const auto is_fast = [&](Index tile) {
    const auto n = static_cast<double>(tile), flops = common::flops_of_multiply_add(type) * n * n * n;
    return flops / gpu.seconds(flops) >= most_of_rate * gpu.best_rate();
  };
  Index tile = smallest;
  while (tile < largest && !is_fast(tile)) tile *= 2;
  return tile;
}

}  // namespace tessera::tile
