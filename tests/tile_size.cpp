// SPDX-License-Identifier: BSD-3-Clause
// The choice of tiles, on invented machines.
#include "tile_size.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace tessera::test {
namespace {

using detail::choose_block;
using detail::choose_default_tile;
using detail::choose_product_tiles;
using detail::choose_symmetric_tiles;
using detail::choose_triangle_tiles;
using detail::choose_triangular_tiles;
using detail::CostCurve;
using detail::divide_up;
using detail::owner_grid;
using detail::ProductTiles;
using detail::TileProblem;
using detail::TriangleOf;

/// Kernel times of double precision products of size n at rates in TFLOP/s.
CostCurve curve(std::initializer_list<std::pair<double, double>> rates) {
  std::vector<CostCurve::Point> points;
  for (const auto& [n, tflops] : rates) points.push_back({2 * n * n * n, 2 * n * n * n / (tflops * 1e12)});
  return CostCurve(points);
}

/// A machine like one with `gpus` H200 on PCIe 5: only large tiles run at full speed.
TileProblem gpu_machine(int gpus) {
  TileProblem machine;
  machine.rates.cpu = curve({{64, 0.02}, {256, 0.04}});
  machine.rates.gpu = curve({{256, 3.0}, {512, 18.0}, {1024, 48.0}, {2048, 58.0}, {4096, 60.0}});
  machine.rates.link = 55e9;
  machine.rates.column = CostCurve({{4096, 0.134e-6}, {16384, 0.520e-6}, {32768, 0.705e-6}, {65536, 1.215e-6}});
  machine.cpu_workers = 8;
  machine.gpus = gpus;
  return machine;
}

/// A machine with `workers` cores of 40 GFLOP/s.
TileProblem cpu_machine(int workers) {
  TileProblem machine;
  machine.rates.cpu = curve({{64, 0.02}, {128, 0.03}, {256, 0.04}});
  machine.cpu_workers = workers;
  return machine;
}

TEST(CostCurve, MeetsItsPoints) {
  const CostCurve points({{1e6, 1e-3}, {3e6, 2e-3}, {8e6, 4e-3}});
  EXPECT_DOUBLE_EQ(points.seconds(1e6), 1e-3);
  EXPECT_DOUBLE_EQ(points.seconds(3e6), 2e-3);
  EXPECT_DOUBLE_EQ(points.seconds(8e6), 4e-3);
}

TEST(CostCurve, IsLinearBetweenThemAndProportionalOutside) {
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

Index volume(const ProductTiles& tiles) { return tiles.m * tiles.n * tiles.k; }

TEST(GpuTiles, GrowWithTheProblem) {
  for (const int gpus : {1, 4}) {
    const auto machine = gpu_machine(gpus);
    Index previous = 0;
    for (const Index n : {1000, 2000, 4096, 8192, 16384, 32768, 65536}) {
      const auto tiles = choose_product_tiles(machine, {}, n, n, n, 0);
      EXPECT_GE(volume(tiles), previous) << n;
      previous = volume(tiles);
    }
    EXPECT_GT(previous, volume(choose_product_tiles(machine, {}, 1000, 1000, 1000, 0)));
  }
}

/// Memory of a GPU in MiB, from too little for anything but small tiles to more than any problem here needs.
constexpr std::array memories{96, 160, 384, 512, 800, 1536, 8192, 1'000'000};

TileProblem machine_with_memory(int gpus, int mebibytes) {
  auto machine = gpu_machine(gpus);
  machine.gpu_memory = std::ldexp(mebibytes, 20);
  return machine;
}

TEST(GpuTiles, MakeUseOfMoreMemory) {
  for (const int gpus : {1, 4})
    for (const Index n : {16384, 32768}) {
      const auto tiles_with = [&](int memory) {
        return choose_product_tiles(machine_with_memory(gpus, memory), {}, n, n, n, 0);
      };
      double previous = std::numeric_limits<double>::infinity();
      for (const int memory : memories) {
        const double seconds = tiles_with(memory).seconds;
        EXPECT_LE(seconds, previous) << gpus << " GPUs, " << memory << " MiB, " << n;
        previous = seconds;
      }
      EXPECT_GT(volume(tiles_with(memories.back())), volume(tiles_with(memories.front()))) << gpus << " GPUs, " << n;
    }
}

TEST(GpuTiles, AreLargeEnoughForFastKernelsInLargeProblems) {
  for (const int gpus : {1, 2, 4, 8})
    for (const Index n : {16384, 32768}) {
      const auto machine = gpu_machine(gpus);
      const double flops = 2 * static_cast<double>(volume(choose_product_tiles(machine, {}, n, n, n, 0)));
      EXPECT_GE(flops / machine.rates.gpu.seconds(flops), 0.9 * machine.rates.gpu.best_rate())
          << gpus << " GPUs, " << n;
    }
}

constexpr std::array updates{TriangleOf::RankK, TriangleOf::Rank2k};

/// Square tiles with columns of that length would be too few for several GPUs.
TEST(GpuTiles, OfAnUpdateAreHigherThanWide) {
  for (const auto& [gpus, n] : {std::pair{2, 8192}, {2, 16384}, {4, 16384}})
    for (const auto what : updates) {
      const auto tiles = choose_triangle_tiles(gpu_machine(gpus), {}, n, n, what, 0);
      EXPECT_GT(tiles.m, tiles.n) << gpus << " GPUs, " << n;
      EXPECT_EQ(tiles.m % tiles.n, 0) << gpus << " GPUs, " << n;
    }
}

/// With shorter chunks there would be more tasks, each of which waits for the one before it on the same tile of C.
TEST(GpuTiles, OfAnUpdateWithManyChunksHaveLongOnes) {
  for (const Index n : {8000, 8192})
    for (const auto what : updates) {
      const auto tiles = choose_triangle_tiles(gpu_machine(4), {}, n, n, what, 0);
      ASSERT_GE(divide_up(n, tiles.m), 8) << n;
      EXPECT_GT(tiles.k, tiles.m) << n;
    }
}

/// A GPU with room for only a few tiles evicts tiles that it needs again.
TEST(GpuTiles, FitIntoTheMemoryThreeTimes) {
  for (const int gpus : {1, 2, 4})
    for (const int memory : memories)
      for (const Index n : {8192, 16384, 32768}) {
        const auto machine = machine_with_memory(gpus, memory);
        const auto a = [&](const ProductTiles& tiles) { return machine.bytes(tiles.m, tiles.k); };
        const auto b = [&](const ProductTiles& tiles) { return machine.bytes(tiles.k, tiles.n); };
        const auto c = [&](const ProductTiles& tiles) { return machine.bytes(tiles.m, tiles.n); };
        for (const auto& tiles :
             {choose_product_tiles(machine, {}, n, n, n, 0), choose_symmetric_tiles(machine, Side::Left, n, n, 0),
              choose_triangular_tiles(machine, Side::Right, true, n, n, 0)})
          EXPECT_LE(3 * (a(tiles) + b(tiles) + c(tiles)), machine.gpu_memory) << memory << " MiB, " << n;
        for (const auto what : updates) {
          const auto tiles = choose_triangle_tiles(machine, {}, n, n, what, 0);
          EXPECT_LE(3 * (2 * a(tiles) + c(tiles)), machine.gpu_memory) << memory << " MiB, " << n;
        }
      }
}

/// Out of core, each block of C waits for its first tiles of A and B, which arrive sooner if they are smaller.
TEST(GpuTiles, AreSmallerThanTheLargestThatFitOutOfCore) {
  const auto machine = machine_with_memory(4, 2048);
  const double largest = machine.bytes(4096, 4096);
  ASSERT_LE(4 * 3 * largest, machine.gpu_memory);
  const auto tiles = choose_product_tiles(machine, {}, 32768, 32768, 32768, 0);
  EXPECT_LT(machine.bytes(tiles.k, tiles.n), largest);
}

/// A column of a tile is one piece of memory. If B is stored as its transpose, the piece is as long as the tile is
/// wide.
TEST(GpuTiles, AreWideIfTheirWidthIsStoredAsColumns) {
  constexpr Index n = 16384;
  const auto machine = gpu_machine(2);
  EXPECT_GT(choose_product_tiles(machine, {false, true}, n, n, n, 0).n,
            choose_product_tiles(machine, {}, n, n, n, 0).n);
}

TEST(GpuTiles, OfLargerElementsAreSmaller) {
  auto machine = gpu_machine(1);
  const auto of_8_bytes = choose_product_tiles(machine, {}, 32768, 32768, 32768, 0);
  machine.element_size = 16;
  EXPECT_LT(volume(choose_product_tiles(machine, {}, 32768, 32768, 32768, 0)), volume(of_8_bytes));
}

TEST(GpuTiles, GiveEveryGpuWork) {
  for (const int gpus : {2, 4, 8})
    for (const Index n : {1000, 2000, 4096, 16384, 32768}) {
      const auto machine = gpu_machine(gpus);
      const auto tiles_of_c = [&](const ProductTiles& tiles) { return divide_up(n, tiles.m) * divide_up(n, tiles.n); };
      EXPECT_GE(tiles_of_c(choose_product_tiles(machine, {}, n, n, n, 0)), gpus) << gpus << " GPUs, " << n;
      EXPECT_GE(tiles_of_c(choose_symmetric_tiles(machine, Side::Left, n, n, 0)), gpus) << gpus << " GPUs, " << n;
      for (const auto what : {TriangleOf::Product, TriangleOf::RankK, TriangleOf::Rank2k})
        EXPECT_GE(tiles_of_c(choose_triangle_tiles(machine, {}, n, n, what, 0)), 2 * gpus) << gpus << " GPUs, " << n;
    }
}

/// The prediction covers all flops and copies each operand at least once.
TEST(GpuTiles, PredictNoFasterThanTheKernelsOrTheLinks) {
  for (const int gpus : {1, 4})
    for (const Index n : {1000, 8192, 32768}) {
      const auto machine = gpu_machine(gpus);
      const double cube = std::pow(static_cast<double>(n), 3), square = std::pow(static_cast<double>(n), 2);
      const auto possible = [&](const ProductTiles& tiles, double flops, double elements) {
        EXPECT_GE(tiles.seconds, flops / (gpus * machine.rates.gpu.best_rate())) << gpus << " GPUs, " << n;
        EXPECT_GE(tiles.seconds, machine.element_size * elements / (gpus * machine.rates.link)) << gpus << ", " << n;
        EXPECT_LT(tiles.seconds, std::numeric_limits<double>::infinity());
      };
      possible(choose_product_tiles(machine, {}, n, n, n, 0), 2 * cube, 3 * square);
      possible(choose_triangle_tiles(machine, {}, n, n, TriangleOf::RankK, 0), cube, 1.5 * square);
      possible(choose_triangle_tiles(machine, {}, n, n, TriangleOf::Rank2k, 0), 2 * cube, 2.5 * square);
      possible(choose_symmetric_tiles(machine, Side::Right, n, n, 0), 2 * cube, 2.5 * square);
      possible(choose_triangular_tiles(machine, Side::Left, true, n, n, 0), cube, 1.5 * square);
    }
}

/// Out of core, A is copied once for each column of blocks of C, and B once for each row of them.
TEST(GpuTiles, PredictTheCopiesForAllBlocks) {
  constexpr Index n = 32768;
  for (const int gpus : {1, 4})
    for (const int memory : {96, 384, 1536}) {
      const auto machine = machine_with_memory(gpus, memory);
      const auto tiles = choose_product_tiles(machine, {}, n, n, n, 0);
      const auto block = choose_block(machine, {tiles.m, tiles.n, tiles.k});
      const Index copies = divide_up(n, block.columns * tiles.n) + divide_up(n, block.rows * tiles.m);
      ASSERT_GT(copies, 2);
      EXPECT_GE(tiles.seconds, machine.bytes(n, n) * static_cast<double>(copies) / (gpus * machine.rates.link))
          << memory;
    }
}

TEST(GpuTiles, MakeBlocksThatTheLinksCanFeed) {
  // Wu and JaJa's bound: each loaded element must be used often enough. With an r×c block of tiles of order t, one
  // term is 2 r c t³ flops on (r + c) t² elements of 8 bytes.
  for (const int gpus : {1, 4, 8})
    for (const Index tile : {512, 2048, 4096}) {
      const auto machine = gpu_machine(gpus);
      const auto grid = owner_grid(gpus);
      const auto block = choose_block(machine, {tile, tile, tile});
      const double r = static_cast<double>(block.rows), c = static_cast<double>(block.columns),
                   t = static_cast<double>(tile);
      const double arithmetic = 2 * r * c * t * t * t / (grid.size() * machine.rates.gpu.best_rate());
      const double transfers = 8 * (r + c) * t * t / (grid.size() * machine.rates.link);
      EXPECT_GE(arithmetic, transfers) << gpus << " GPUs, tiles of " << tile;
    }
}

Index tasks_of(const TileProblem& machine, Index m, Index n, Index k) {
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

/// The predicted time, relative to the time of the arithmetic if all workers compute at the best rate.
double relative_seconds(const TileProblem& machine, const detail::ProductTiles& tiles, double flops) {
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

TEST(GpuTiles, OfATriangularMatrixGiveEveryGpuColumns) {
  for (const int gpus : {1, 2, 4, 8})
    for (const Index n : {4096, 8192, 32768})
      for (const bool inverse : {false, true}) {
        const auto left = choose_triangular_tiles(gpu_machine(gpus), Side::Left, inverse, n, n, 0);
        EXPECT_GE(divide_up(n, left.n), gpus) << n;
        EXPECT_EQ(left.m, left.k);
        const auto right = choose_triangular_tiles(gpu_machine(gpus), Side::Right, inverse, n, n, 0);
        EXPECT_GE(divide_up(n, right.m), gpus) << n;
        EXPECT_EQ(right.n, right.k);
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
}  // namespace tessera::test
