// SPDX-License-Identifier: BSD-3-Clause
// The choice of tiles for CPU workers, on invented machines.
#include "tiling/tile_size.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/machines.hpp"
#include "tiling/block.hpp"
#include "tiling/split.hpp"

namespace tessera::test::tile_size_cpu_cpp {
namespace {

using detail::choose_block;
using detail::choose_product_tiles;
using detail::choose_symmetric_tiles;
using detail::choose_triangle_tiles;
using detail::choose_triangular_tiles;
using detail::divide_up;

Index tasks_of(const MachineModel& machine, Index m, Index n, Index k) {
  const auto tiles = choose_product_tiles(machine, {}, m, n, k, 0);
  return divide_up(m, tiles.m) * divide_up(n, tiles.n);
}

TEST(CpuTiles, KeepASmallProductWhole) {
  for (const Index n : {1, 8, 16, 32}) EXPECT_EQ(tasks_of(cpu_machine(2), n, n, n), 1) << n;
}

TEST(CpuTiles, SplitTheSumOfAResultThatIsTooSmallToShare) {
  const auto tiles = choose_product_tiles(cpu_machine(16), {}, 8, 8, 1'000'000, 0);
  EXPECT_GE(divide_up(1'000'000, tiles.k), 8);
  const auto triangle = choose_triangle_tiles(cpu_machine(16), {}, 8, 1'000'000, TriangleOf::RankK, 0);
  EXPECT_GE(divide_up(1'000'000, triangle.k), 8);
}

/// The predicted time, relative to the time of the arithmetic if all workers compute at the best rate.
double relative_seconds(const MachineModel& machine, const detail::ChosenTiles& tiles, double flops) {
  return tiles.seconds * machine.cpu_workers * machine.rates.cpu.best_rate() / flops;
}

TEST(CpuTiles, OfATriangleAreSquareAndShareItsWork) {
  for (const int workers : {1, 2, 16}) {
    const auto machine = cpu_machine(workers);
    const auto tiles = choose_triangle_tiles(machine, {}, 4000, 4000, TriangleOf::RankK, 0);
    EXPECT_EQ(tiles.m, tiles.n);
    EXPECT_LT(relative_seconds(machine, tiles, std::pow(4000.0, 3)), 1.4) << workers;
  }
}

TEST(CpuTiles, OfASidedMatrixShareItsWork) {
  for (const int workers : {1, 2, 16})
    for (const auto side : {Side::Left, Side::Right}) {
      const auto machine = cpu_machine(workers);
      const double cube = std::pow(4000.0, 3);
      const auto symmetric = choose_symmetric_tiles(machine, side, 4000, 4000, 0),
                 triangular = choose_triangular_tiles(machine, side, true, 4000, 4000, 0);
      EXPECT_LT(relative_seconds(machine, symmetric, 2 * cube), 1.3) << workers;
      EXPECT_LT(relative_seconds(machine, triangular, cube), 1.4) << workers;
      for (const auto& tiles : {symmetric, triangular}) EXPECT_EQ(tiles.k, side == Side::Left ? tiles.m : tiles.n);
    }
}

TEST(CpuTiles, OfASidedMatrixCutItIfTheOtherHasOneColumn) {
  EXPECT_LT(choose_symmetric_tiles(cpu_machine(4), Side::Left, 4000, 1, 0).k, 4000);
  EXPECT_LT(choose_triangular_tiles(cpu_machine(4), Side::Right, true, 1, 4000, 0).k, 4000);
}

TEST(CpuTiles, KeepTheSumWhole) {
  for (const Index k : {1, 500, 10000}) EXPECT_EQ(choose_product_tiles(cpu_machine(2), {}, 1000, 1000, k, 0).k, k);
}

TEST(CpuTiles, GiveEveryWorkerTheSameNumberOfTasks) {
  for (const Index n : {256, 1000, 4000}) EXPECT_EQ(tasks_of(cpu_machine(2), n, n, n) % 2, 0) << n;
}

TEST(CpuTiles, GiveManyWorkersEnoughToShare) {
  for (const int workers : {1, 2, 7, 64}) {
    EXPECT_GE(tasks_of(cpu_machine(workers), 4000, 4000, 4000), workers);
    EXPECT_LE(tasks_of(cpu_machine(workers), 4000, 4000, 4000), 32 * workers);
  }
}

TEST(CpuTiles, CutTheLongSide) {
  EXPECT_GE(divide_up(100000, choose_product_tiles(cpu_machine(4), {}, 100000, 32, 500, 0).m), 4);
  EXPECT_GE(divide_up(100000, choose_product_tiles(cpu_machine(4), {}, 32, 100000, 500, 0).n), 4);
}

TEST(CpuTiles, AreNoThinStripsOfALargeMatrix) {
  for (const int workers : {2, 16, 64}) {
    const auto tiles = choose_product_tiles(cpu_machine(workers), {}, 6000, 6000, 6000, 0);
    EXPECT_LE(std::max(tiles.m, tiles.n), 5 * std::min(tiles.m, tiles.n)) << tiles.m << 'x' << tiles.n;
  }
}

TEST(CpuTiles, KeepTheShortSideWhole) { EXPECT_EQ(choose_product_tiles(cpu_machine(2), {}, 100000, 32, 500, 0).n, 32); }

TEST(CpuTiles, NeedNoBlocks) {
  EXPECT_EQ(choose_block(cpu_machine(2), {512, 512, 512}).rows, 0);
  EXPECT_EQ(choose_block(cpu_machine(2), {512, 512, 512}).columns, 0);
}

}  // namespace
}  // namespace tessera::test::tile_size_cpu_cpp
