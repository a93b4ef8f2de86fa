// SPDX-License-Identifier: BSD-3-Clause
#include "tile_size.hpp"

#include <algorithm>
#include <utility>

#include "tile_size_cpu.hpp"
#include "tile_size_gpu.hpp"

namespace tessera::detail {

namespace {

/// If A is on the right, converts the tiles chosen for the transposed problem, where A is on the left.
ChosenTiles transposed_if_right(Side side, ChosenTiles tiles) {
  if (side == Side::Right) std::swap(tiles.m, tiles.n);
  return tiles;
}

}  // namespace

ChosenTiles choose_product_tiles(const MachineModel& machine, Transposed stored, Index m, Index n, Index k,
                                 Index fixed) {
  m = std::max<Index>(m, 1), n = std::max<Index>(n, 1), k = std::max<Index>(k, 1);
  return machine.gpus > 0 ? choose_product_for_gpus(machine, stored, m, n, k, fixed)
                          : choose_product_for_cpus(machine, m, n, k, fixed);
}

ChosenTiles choose_triangle_tiles(const MachineModel& machine, Transposed stored, Index n, Index k, TriangleOf what,
                                  Index fixed) {
  n = std::max<Index>(n, 1), k = std::max<Index>(k, 1);
  return machine.gpus > 0 ? choose_triangle_for_gpus(machine, stored, n, k, what, fixed)
                          : choose_triangle_for_cpus(machine, n, k, products(what), fixed);
}

ChosenTiles choose_symmetric_tiles(const MachineModel& machine, Side side, Index m, Index n, Index fixed) {
  const Index order = std::max<Index>(side == Side::Left ? m : n, 1),
              free = std::max<Index>(side == Side::Left ? n : m, 1);
  const auto chosen = machine.gpus > 0 ? choose_symmetric_for_gpus(machine, side, order, free, fixed)
                                       : choose_sided_for_cpus(machine, side, order, free, Rows::Independent, fixed);
  if (machine.compared != nullptr)
    for (auto& tiles : *machine.compared) tiles = transposed_if_right(side, std::move(tiles));
  return transposed_if_right(side, chosen);
}

ChosenTiles choose_triangular_tiles(const MachineModel& machine, Side side, bool inverse, Index m, Index n,
                                    Index fixed) {
  const Index order = std::max<Index>(side == Side::Left ? m : n, 1),
              free = std::max<Index>(side == Side::Left ? n : m, 1);
  return transposed_if_right(side, machine.gpus > 0
                                       ? choose_triangular_for_gpus(machine, side, inverse, order, free, fixed)
                                       : choose_sided_for_cpus(machine, side, order, free, Rows::Dependent, fixed));
}

Index choose_default_tile(const MachineModel& machine) {
  constexpr Index for_cpus = 512;  // a task takes a few milliseconds on current cores
  return machine.gpus == 0 ? for_cpus : smallest_fast_tile(machine);
}

}  // namespace tessera::detail
