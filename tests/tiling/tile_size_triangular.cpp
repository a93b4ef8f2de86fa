// SPDX-License-Identifier: BSD-3-Clause
// The columns that cores compute alongside GPUs in trmm and trsm.
#include <gtest/gtest.h>

#include <string>

#include "tiling/core_share.hpp"
#include "tiling/split.hpp"
#include "tiling/tile_size.hpp"

namespace tessera::test::tile_size_triangular_cpp {
namespace {

using detail::choose_triangular_tiles;
using detail::CostCurve;
using detail::MachineModel;

constexpr double core_rate = 60e9;

/// A machine with GPUs of 1.2 TFLOP/s and cores.
MachineModel machine_with(int gpus, int cores) {
  MachineModel machine;
  machine.gpus = gpus, machine.sharing_cores = cores;
  machine.rates.cpu = CostCurve({{1e9, 1e9 / core_rate}}), machine.rates.gpu = CostCurve({{1e9, 1e9 / 1.2e12}});
  machine.rates.link = 25e9;
  return machine;
}

TEST(ColumnsForCores, AreEqualPerCoreAndNotWiderThanGpuColumns) {
  for (const int gpus : {1, 2})
    for (const Index n : {3000, 5000, 16384})
      for (const auto side : {Side::Left, Side::Right})
        for (const bool inverse : {false, true}) {
          const auto tiles = choose_triangular_tiles(machine_with(gpus, 7), side, inverse, n, n, 0);
          const auto& columns = tiles.columns_for_cores;
          EXPECT_GT(columns.count, 0) << n;
          EXPECT_EQ(columns.count % 7, 0) << n;
          EXPECT_LE(columns.extent, side == Side::Left ? tiles.n : tiles.m) << n;
          EXPECT_LT(columns.whole(), n);
        }
}

TEST(ColumnsForCores, AreComputedInTheTimeOfTheGpus) {
  for (const int cores : {1, 3, 15})
    for (const Index n : {2048, 4096, 16384, 32768}) {
      const auto with = choose_triangular_tiles(machine_with(1, cores), Side::Left, true, n, n, 0),
                 without = choose_triangular_tiles(machine_with(1, 0), Side::Left, true, n, n, 0);
      const double order = static_cast<double>(n), columns = static_cast<double>(with.columns_for_cores.whole());
      EXPECT_LE(order * order * columns / cores / core_rate, with.seconds) << n << " with " << cores;
      EXPECT_LT(with.seconds, without.seconds) << n << " with " << cores;
    }
}

// Cores with 0.75 of the GPU's rate could compute 0.43 of the columns; with a margin, 0.40.
TEST(ColumnsForCores, AreMostOfWhatTheCoresCanCompute) {
  for (const Index n : {8192, 16384}) {
    const auto tiles = choose_triangular_tiles(machine_with(1, 15), Side::Left, false, n, n, 0);
    EXPECT_NE(tiles.reason.find(" for 15 cores"), std::string::npos) << tiles.reason;
    EXPECT_GT(tiles.columns_for_cores.whole(), 0.35 * static_cast<double>(n));
    EXPECT_LT(tiles.columns_for_cores.whole(), 0.41 * static_cast<double>(n));
  }
}

TEST(ColumnsForCores, LeaveThreeTilesToEachOfSeveralGpus) {
  for (const Index n : {700, 1000, 1500, 2048, 3000, 8000}) {
    const auto tiles = choose_triangular_tiles(machine_with(2, 7), Side::Left, true, n, n, 0);
    const Index left = n - tiles.columns_for_cores.whole();
    EXPECT_TRUE(tiles.columns_for_cores.count == 0 || detail::divide_up(left, tiles.n) >= 6) << n;
  }
  EXPECT_EQ(choose_triangular_tiles(machine_with(2, 7), Side::Left, true, 700, 700, 0).columns_for_cores.count, 0);
}

// 15 cores would get as many tiles of X, with 16 columns and 512 rows. They save less time than it costs to hand these
// tiles back.
TEST(ColumnsForCores, CountTheirTiles) {
  auto machine = machine_with(1, 15);
  const auto seconds = [&](int cores) {
    machine.sharing_cores = cores;
    return choose_triangular_tiles(machine, Side::Left, true, 512, 512, 0).seconds;
  };
  EXPECT_GT(detail::least_advantage_in_columns(1).gain * seconds(15), seconds(0));
}

TEST(ColumnsForCores, AreNoneIfCoresAreSlowOrThereAreFewColumns) {
  auto slow = machine_with(1, 15);
  slow.rates.cpu = CostCurve({{1e9, 1}});
  EXPECT_EQ(choose_triangular_tiles(slow, Side::Left, true, 4096, 4096, 0).columns_for_cores.count, 0);
  EXPECT_EQ(choose_triangular_tiles(machine_with(1, 15), Side::Left, true, 4096, 200, 0).columns_for_cores.count, 0);
  EXPECT_EQ(choose_triangular_tiles(machine_with(1, 0), Side::Left, true, 4096, 4096, 0).columns_for_cores.count, 0);
}

}  // namespace
}  // namespace tessera::test::tile_size_triangular_cpp
