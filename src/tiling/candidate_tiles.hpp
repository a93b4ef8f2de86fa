// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>

#include <tessera/types.hpp>

#include "block.hpp"
#include "gpu_costs.hpp"
#include "split.hpp"

/// Candidate tile sizes for GPUs, and shared parts of their predictions.
namespace tessera::detail {

inline constexpr std::array<Index, 5> candidates{256, 512, 1024, 2048, 4096};

/// The time of overlapping arithmetic and transfers [s]. A quarter of the shorter time remains visible: at the start,
/// when the links have to catch up, and whenever one has to wait for the other.
inline double overlapped(double arithmetic, double transfers) {
  return std::max(arithmetic, transfers) + std::min(arithmetic, transfers) / 4;
}

/// The number of tiles along one dimension for the busiest row or column of `gpus` GPUs. The last tile of the dimension
/// may be shorter.
/// @param cost  (double part): time of a task on a part of a tile, relative to a full tile
template <typename Cost>
double largest_share(Index whole, Index tile, int gpus, Cost cost) {
  const Index count = divide_up(whole, tile), rest = whole - (count - 1) * tile;
  const auto most = static_cast<double>(divide_up(count, gpus));
  const bool others_have_fewer = (count - 1) % gpus == 0;
  return others_have_fewer ? most - 1 + cost(static_cast<double>(rest) / static_cast<double>(tile)) : most;
}

/// The number of sets of tiles, one each of A, B and C, that must fit into a GPU's memory. With less room, the GPU
/// would evict unfinished results and tiles that it needs again. Slightly less than four, because StarPU also needs
/// some memory.
inline constexpr double least_room = 3.9;

/// Whether `least_room` sets of tiles fit into a GPU's memory, and no tile is too large.
/// @param update   whether both factors have tiles of the same height as C, as in an update
/// @param largest  maximum bytes of a tile
inline bool fits(const MachineModel& machine, TileExtents tile, bool update = false,
                 double largest = largest_tile_bytes) {
  const double a = machine.bytes(tile.m, tile.k), b = update ? a : machine.bytes(tile.k, tile.n),
               c = machine.bytes(tile.m, tile.n);
  if (std::max({a, b, c}) > largest) return false;
  return machine.gpu_memory <= 0 || least_room * (a + b + c) <= machine.gpu_memory;
}

}  // namespace tessera::detail
