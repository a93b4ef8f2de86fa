// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>

#include <tessera/types.hpp>

#include "block.hpp"
#include "gpu_costs.hpp"
#include "split.hpp"

/// The tiles that are compared for GPUs, and what their predictions have in common.
namespace tessera::detail {

inline constexpr std::array<Index, 5> candidates{256, 512, 1024, 2048, 4096};

/// Seconds of arithmetic and transfers that overlap. A quarter of the shorter one is not hidden: at the start, while
/// the links catch up, and whenever one waits for the other.
inline double overlapped(double arithmetic, double transfers) {
  return std::max(arithmetic, transfers) + std::min(arithmetic, transfers) / 4;
}

/// Tiles along one dimension for the row or column of `gpus` GPUs that has most to compute. The last tile of the
/// dimension may be shorter.
/// @param cost  (double part): time of a task on a part of a tile, as a part of the time on a full one
template <typename Cost>
double largest_share(Index whole, Index tile, int gpus, Cost cost) {
  const Index count = divide_up(whole, tile), rest = whole - (count - 1) * tile;
  const auto most = static_cast<double>(divide_up(count, gpus));
  const bool others_have_fewer = (count - 1) % gpus == 0;
  return others_have_fewer ? most - 1 + cost(static_cast<double>(rest) / static_cast<double>(tile)) : most;
}

/// The number of sets of tiles, one each of A, B and C, for which a GPU must have room. With room for fewer it evicts
/// tiles that it needs again, and unfinished results. In simulations of four H200 with room for a tenth to two thirds
/// of the operands, room for four sets was 17 % faster on average than room for two, and 28 % slower in the worst of 84
/// cases. The value is slightly less than four because StarPU needs some memory, too.
inline constexpr double least_room = 3.9;

/// Whether a GPU has room for `least_room` sets of tiles, and none is too large.
/// @param update   both factors of an update have tiles of the same height as C
/// @param largest  bytes that a tile may have
inline bool fits(const MachineModel& machine, TileExtents tile, bool update = false,
                 double largest = largest_tile_bytes) {
  const double a = machine.bytes(tile.m, tile.k), b = update ? a : machine.bytes(tile.k, tile.n),
               c = machine.bytes(tile.m, tile.n);
  if (std::max({a, b, c}) > largest) return false;
  return machine.gpu_memory <= 0 || least_room * (a + b + c) <= machine.gpu_memory;
}

}  // namespace tessera::detail
