// SPDX-License-Identifier: BSD-3-Clause
// The choice of tiles on any machine, and what it is based on: cost curves, the grid of GPUs, the split of sums.
#include "tiling/tile_size.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "support/machines.hpp"
#include "tiling/block.hpp"
#include "tiling/split.hpp"

namespace tessera::test::tile_size_cpp {
namespace {

using detail::choose_default_tile;
using detail::choose_product_tiles;
using detail::choose_symmetric_tiles;
using detail::choose_triangle_tiles;
using detail::choose_triangular_tiles;
using detail::owner_grid;

TEST(CostCurve, MeetsItsPoints) {
  const CostCurve points({{1e6, 1e-3}, {3e6, 2e-3}, {8e6, 4e-3}});
  EXPECT_DOUBLE_EQ(points.seconds(1e6), 1e-3);
  EXPECT_DOUBLE_EQ(points.seconds(3e6), 2e-3);
  EXPECT_DOUBLE_EQ(points.seconds(8e6), 4e-3);
}

TEST(CostCurve, IsLinearBetweenPointsAndProportionalOutside) {
  const CostCurve points({{1e6, 1e-3}, {3e6, 2e-3}, {8e6, 4e-3}});
  EXPECT_DOUBLE_EQ(points.seconds(2e6), 1.5e-3);
  EXPECT_DOUBLE_EQ(points.seconds(5.5e6), 3e-3);
  EXPECT_DOUBLE_EQ(points.seconds(0.5e6), 0.5e-3);
  EXPECT_DOUBLE_EQ(points.seconds(80e6), 40e-3);
  EXPECT_DOUBLE_EQ(points.seconds(0), 0);
}

TEST(CostCurve, BestRateIsThatOfTheBestPoint) {
  EXPECT_DOUBLE_EQ(CostCurve({{1e6, 1e-3}, {3e6, 1e-3}, {8e6, 4e-3}}).best_rate(), 3e9);
  EXPECT_DOUBLE_EQ(CostCurve().best_rate(), 0);
  EXPECT_DOUBLE_EQ(CostCurve().seconds(1e9), 0);
}

TEST(OwnerGrid, IsTheSquarestThatUsesAllGpus) {
  struct Case {
    int gpus, p, q;
  };
  for (const auto& [gpus, p, q] :
       {Case{0, 1, 1}, {1, 1, 1}, {2, 1, 2}, {3, 1, 3}, {4, 2, 2}, {6, 2, 3}, {7, 1, 7}, {8, 2, 4}, {9, 3, 3}}) {
    EXPECT_EQ(owner_grid(gpus).p, p) << gpus;
    EXPECT_EQ(owner_grid(gpus).q, q) << gpus;
  }
}

TEST(SumsPerTile, IsOneUnlessThereAreFewTilesAndLongSums) {
  EXPECT_EQ(detail::sums_per_tile(4, 4, 100000), 1);
  EXPECT_EQ(detail::sums_per_tile(4, 0, 0), 1);
  EXPECT_EQ(detail::sums_per_tile(2, 1, 2 * 64), 1);   // measured on two cores: does not pay
  EXPECT_EQ(detail::sums_per_tile(2, 1, 2 * 256), 2);  // pays
}

TEST(SumsPerTile, GrowsWithTheSumUntilAllWorkersHaveOne) {
  for (const auto& [workers, tiles] : {std::pair<Index, Index>{4, 1}, {9, 2}, {64, 3}}) {
    Index previous = 1;
    for (Index k = 1; k <= 100000; k *= 2) {
      const Index sums = detail::sums_per_tile(workers, tiles, k);
      EXPECT_GE(sums, previous) << k;
      EXPECT_LE(sums, workers / tiles) << k;
      previous = sums;
    }
    EXPECT_EQ(previous, workers / tiles);
  }
}

constexpr std::array<Index, 5> awkward_sizes{0, 1, 17, 1000, Index{1} << 33};

TEST(AnyTiles, AreLegalTilesForAnyShape) {
  for (const auto& machine : {cpu_machine(1), cpu_machine(3), gpu_machine(1), gpu_machine(4)})
    for (const Index m : awkward_sizes)
      for (const Index n : awkward_sizes)
        for (const Index k : awkward_sizes) {
          for (const auto& tiles : {choose_product_tiles(machine, {}, m, n, k, 0),
                                    choose_triangle_tiles(machine, {}, n, k, TriangleOf::Rank2k, 0),
                                    choose_symmetric_tiles(machine, Side::Left, m, n, 0),
                                    choose_triangular_tiles(machine, Side::Right, true, m, n, 0)})
            for (const Index size : {tiles.m, tiles.n, tiles.k}) {
              EXPECT_GE(size, 1) << m << 'x' << n << 'x' << k;
              ASSERT_LE(size, std::numeric_limits<int>::max()) << m << 'x' << n << 'x' << k;
            }
        }
}

TEST(AnyTiles, AreThoseThatWereAskedFor) {
  for (const auto& machine : {cpu_machine(2), gpu_machine(1), gpu_machine(4)}) {
    const auto tiles = choose_product_tiles(machine, {}, 1000, 3000, 50, 300);
    EXPECT_EQ(tiles.m, 300);
    EXPECT_EQ(tiles.n, 300);
    EXPECT_EQ(tiles.k, 300);
    EXPECT_NE(tiles.reason.find("asked for"), std::string::npos) << tiles.reason;
  }
}

TEST(DefaultTile, IsTheSmallestAtNineTenthsOfTheBestRate) {
  const auto machine = gpu_machine(1);
  const auto rate = [&](Index n) {
    const double flops = 2 * std::pow(static_cast<double>(n), 3);
    return flops / machine.rates.gpu.seconds(flops);
  };
  const Index tile = choose_default_tile(machine);
  EXPECT_GE(rate(tile), 0.9 * machine.rates.gpu.best_rate());
  EXPECT_LT(rate(tile / 2), 0.9 * machine.rates.gpu.best_rate());
}

TEST(DefaultTile, DoesNotDependOnTheNumberOfGpus) {
  EXPECT_EQ(choose_default_tile(gpu_machine(1)), choose_default_tile(gpu_machine(4)));
}

}  // namespace
}  // namespace tessera::test::tile_size_cpp
