// SPDX-License-Identifier: BSD-3-Clause
// The choice of tiles and blocks for GPUs, on invented machines.
#include "tiling/tile_size.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "support/machines.hpp"
#include "tiling/block.hpp"
#include "tiling/link_bound.hpp"
#include "tiling/split.hpp"

namespace tessera::test::tile_size_gpu_cpp {
namespace {

using detail::choose_block;
using detail::choose_product_tiles;
using detail::choose_symmetric_tiles;
using detail::choose_triangle_tiles;
using detail::choose_triangular_tiles;
using detail::divide_up;
using detail::owner_grid;

Index volume(const ChosenTiles& tiles) { return tiles.m * tiles.n * tiles.k; }

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

// Partly filled tiles must not count as full ones, or only small tiles would be chosen.
TEST(GpuTiles, AreStableUnderSmallChangesOfSize) {
  for (const int gpus : {1, 4, 6})
    for (const Index n : {8192, 12288, 16384}) {
      const auto machine = gpu_machine(gpus);
      const auto whole = choose_product_tiles(machine, {}, n, n, n, 0),
                 more = choose_product_tiles(machine, {}, n + 64, n + 64, n + 64, 0);
      EXPECT_GE(2 * volume(more), volume(whole)) << n << " on " << gpus;
      EXPECT_LE(more.seconds, 1.1 * whole.seconds) << n << " on " << gpus;
    }
}

// Triangular matrices, and triangles of results.
TEST(GpuTiles, OfTrianglesAreStableUnderSmallChangesOfSize) {
  for (const int gpus : {1, 2, 4})
    for (const Index n : {12288, 16384, 24576}) {
      const auto machine = gpu_machine(gpus);
      for (const bool inverse : {false, true}) {
        const auto exact = choose_triangular_tiles(machine, Side::Left, inverse, n, n, 0),
                   more = choose_triangular_tiles(machine, Side::Left, inverse, n + 64, n + 64, 0);
        EXPECT_GE(more.m, exact.m) << n << " on " << gpus << ", inverse: " << inverse;
        EXPECT_LT(more.seconds, 1.1 * exact.seconds) << n << " on " << gpus << ", inverse: " << inverse;
      }
      if (gpus > 1) continue;  // the number of tiles per GPU decides
      for (const auto what : {TriangleOf::RankK, TriangleOf::Rank2k}) {
        const auto exact = choose_triangle_tiles(machine, {}, n, n, what, 0),
                   more = choose_triangle_tiles(machine, {}, n + 64, n + 64, what, 0);
        EXPECT_GE(more.m, exact.m) << n;
        EXPECT_LT(more.seconds, 1.15 * exact.seconds) << n;  // the last column counts as a full column
      }
    }
}

// Wu and JaJa give 1/688 for their K20. Their link rate is in GiB/s.
TEST(LinkBound, IsThatOfWuAndJaJa) {
  auto machine = gpu_machine(1);
  machine.rates.link = std::ldexp(5.7, 30);
  const double rate = 1053e9;
  EXPECT_NEAR(detail::link_bound(machine, rate, 4096, 4096, 4096).least, 688, 0.5);
  EXPECT_TRUE(detail::link_bound(machine, rate, 2065, 2065, 2065).link_feeds());
  EXPECT_FALSE(detail::link_bound(machine, rate, 2064, 2064, 2064).link_feeds());
  const auto flat = detail::link_bound(machine, rate, 1 << 20, 1 << 20, 680);
  EXPECT_FALSE(flat.link_feeds());
  EXPECT_NE(flat.text().find("smallest dimension alone"), std::string::npos) << flat.text();
  EXPECT_EQ(detail::link_bound(machine, rate, 1024, 1024, 1024).text().find("alone"), std::string::npos);
}

TEST(LinkBound, IsPartOfTheReason) {
  const auto reason = [](Index m, Index n, Index k) {
    return choose_product_tiles(gpu_machine(1), {}, m, n, k, 0).reason;
  };
  EXPECT_NE(reason(16384, 16384, 16384).find("1/5461, below the link's"), std::string::npos)
      << reason(16384, 16384, 16384);
  EXPECT_NE(reason(16384, 16384, 64).find("not below the link's"), std::string::npos) << reason(16384, 16384, 64);
}

/// Memory of a GPU in MiB, from enough only for small tiles to more than any problem here needs.
constexpr std::array memories{96, 160, 384, 512, 800, 1536, 8192, 1'000'000};

MachineModel machine_with_memory(int gpus, int mebibytes) {
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

/// Square tiles with columns of this length would be too few for several GPUs.
TEST(GpuTiles, OfAnUpdateAreHigherThanWide) {
  for (const auto& [gpus, n] : {std::pair{2, 8192}, {2, 16384}, {4, 16384}})
    for (const auto what : updates) {
      const auto tiles = choose_triangle_tiles(gpu_machine(gpus), {}, n, n, what, 0);
      EXPECT_GT(tiles.m, tiles.n) << gpus << " GPUs, " << n;
      EXPECT_EQ(tiles.m % tiles.n, 0) << gpus << " GPUs, " << n;
    }
}

/// Shorter chunks would mean more tasks, each of which waits for the previous one on the same tile of C.
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
        const auto a = [&](const ChosenTiles& tiles) { return machine.bytes(tiles.m, tiles.k); };
        const auto b = [&](const ChosenTiles& tiles) { return machine.bytes(tiles.k, tiles.n); };
        const auto c = [&](const ChosenTiles& tiles) { return machine.bytes(tiles.m, tiles.n); };
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

/// Out of core, each block of C waits for its first tiles of A and B, which arrive sooner if they are small.
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

/// Short columns arrive slowly even while a GPU waits for its first tiles.
TEST(GpuTiles, AreHighIfTheLinksAreTheLimit) {
  for (const int gpus : {3, 4})
    EXPECT_GE(choose_product_tiles(gpu_machine(gpus), {}, 4096, 4096, 4096, 0).m, 1024) << gpus;
  EXPECT_GE(choose_triangle_tiles(gpu_machine(3), {}, 4096, 4096, TriangleOf::RankK, 0).m, 1024);
}

TEST(GpuTiles, OfASmallResultAreFew) {
  for (const int gpus : {2, 4})
    for (const Index n : {1024, 1500}) {
      const auto tiles = choose_product_tiles(gpu_machine(gpus), {}, n, n, n, 0);
      EXPECT_TRUE(tiles.m > 512 || tiles.n >= 512) << n << " on " << gpus << ": " << tiles.m << "x" << tiles.n;
    }
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
      const auto tiles_of_c = [&](const ChosenTiles& tiles) { return divide_up(n, tiles.m) * divide_up(n, tiles.n); };
      EXPECT_GE(tiles_of_c(choose_product_tiles(machine, {}, n, n, n, 0)), gpus) << gpus << " GPUs, " << n;
      EXPECT_GE(tiles_of_c(choose_symmetric_tiles(machine, Side::Left, n, n, 0)), gpus) << gpus << " GPUs, " << n;
      for (const auto what : {TriangleOf::Product, TriangleOf::RankK, TriangleOf::Rank2k})
        // For a small triangle, a few tiles of 512×512 are faster than more, smaller ones.
        if (n >= 2048) {
          EXPECT_GE(tiles_of_c(choose_triangle_tiles(machine, {}, n, n, what, 0)), 2 * gpus) << gpus << " GPUs, " << n;
        }
    }
}

/// The prediction covers all flops and copies each operand at least once.
TEST(GpuTiles, PredictNoFasterThanTheKernelsOrTheLinks) {
  for (const int gpus : {1, 4})
    for (const Index n : {1000, 8192, 32768}) {
      const auto machine = gpu_machine(gpus);
      const double cube = std::pow(static_cast<double>(n), 3), square = std::pow(static_cast<double>(n), 2);
      const auto possible = [&](const ChosenTiles& tiles, double flops, double elements) {
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

/// Out of core, A is copied once for each column of blocks of C, and B once for each row of them, except for what one
/// block leaves to the next.
TEST(GpuTiles, PredictTheCopiesForAllBlocks) {
  constexpr Index n = 32768;
  for (const int gpus : {1, 4})
    for (const int memory : {96, 384, 1536}) {
      const auto machine = machine_with_memory(gpus, memory);
      const auto tiles = choose_product_tiles(machine, {}, n, n, n, 0);
      const auto block = choose_block(machine, {tiles.m, tiles.n, tiles.k});
      const auto columns = static_cast<double>(divide_up(n, block.columns * tiles.n)),
                 rows = static_cast<double>(divide_up(n, block.rows * tiles.m)),
                 terms = static_cast<double>(divide_up(n, tiles.k));
      const double copies = columns - (columns - 1) / (terms * rows) + rows - (rows - 1) / terms;
      ASSERT_GT(rows * columns, 1);
      EXPECT_GE(tiles.seconds, machine.bytes(n, n) * copies / (gpus * machine.rates.link)) << memory;
    }
}

/// Tiles of 8192 rows are used only for products that do not fit, and whose first factor and result have columns of
/// this length.
TEST(GpuTiles, AreTallOutOfCore) {
  constexpr Index n = 16384, tall = 8192;
  const auto little = machine_with_memory(1, 1536);
  EXPECT_EQ(choose_product_tiles(little, {}, n, n, n, 0).m, tall);
  EXPECT_LT(choose_product_tiles(little, {.a = true}, n, n, n, 0).m, tall);
  EXPECT_LT(choose_triangle_tiles(little, {}, n, n, TriangleOf::RankK, 0).m, tall);
  EXPECT_LT(choose_symmetric_tiles(little, Side::Left, n, n, 0).m, tall);
  auto in_core = gpu_machine(1);
  in_core.rates.column = {};  // no panels
  EXPECT_LT(choose_product_tiles(in_core, {}, n, n, n, 0).m, tall);
}

TEST(GpuTiles, MakeBlocksThatTheLinksCanFeed) {
  // Wu and JaJa's bound: each loaded element must be used often enough. With an r×c block of tiles of order t, a term
  // has 2 r c t³ flops on (r + c) t² elements of 8 bytes.
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

TEST(GpuTiles, OfFactorizationsGrowWithTheMatrix) {
  for (const int gpus : {1, 2, 4}) {
    Index last = 0;
    for (const Index n : {1, 300, 1024, 4096, 8192, 16384, 32768, 65536}) {
      const auto tiles = detail::choose_cholesky_tiles(gpu_machine(gpus), n, 0);
      EXPECT_EQ(tiles.m, tiles.n);
      EXPECT_GE(tiles.n, last) << n << " on " << gpus;
      last = tiles.n;
    }
    EXPECT_EQ(detail::choose_cholesky_tiles(gpu_machine(gpus), 5000, 300).n, 300);
    last = 0;
    for (const Index n : {1, 300, 1024, 4096, 8192, 16384, 32768, 65536}) {
      const auto tiles = detail::choose_lu_nopiv_tiles(gpu_machine(gpus), n, n, 0);
      EXPECT_GE(tiles.n, last) << n << " on " << gpus;
      last = tiles.n;
    }
    EXPECT_EQ(detail::choose_lu_nopiv_tiles(gpu_machine(gpus), 5000, 0, 300).n, 300);
  }
}

TEST(GpuTiles, OfFactorizationsAreStableUnderSmallChangesOfSize) {
  const auto machine = gpu_machine(1);
  for (const Index n : {12288, 16384, 24576}) {
    const auto of_cholesky = [&](Index order) { return detail::choose_cholesky_tiles(machine, order, 0); };
    const auto of_lu = [&](Index order) { return detail::choose_lu_nopiv_tiles(machine, order, order, 0); };
    EXPECT_GE(of_cholesky(n + 64).m, of_cholesky(n).m) << n;
    EXPECT_GE(of_lu(n + 64).m, of_lu(n).m) << n;
    EXPECT_LT(of_cholesky(n + 64).seconds, 1.1 * of_cholesky(n).seconds) << n;
    EXPECT_LT(of_lu(n + 64).seconds, 1.1 * of_lu(n).seconds) << n;
  }
}

TEST(GpuTiles, OfPanelsGiveEveryGpuOne) {
  for (const int gpus : {1, 2, 4})
    for (const Index n : {4096, 8192, 16384, 32768, 65536})
      EXPECT_GE(divide_up(n, detail::choose_lu_panel(gpu_machine(gpus), n, n, 0).n), 2 * gpus) << n;
  EXPECT_GT(detail::choose_lu_panel(gpu_machine(1), 0, 0, 0).n, 0);
  EXPECT_EQ(detail::choose_lu_panel(gpu_machine(1), 5000, 5000, 300).n, 300);
  // Each diagonal block lies in one tile, and a panel has few tiles, whatever width is asked for.
  for (const Index width : {0, 1, 48, 1000, 3000, 10000})
    for (const Index rows : {1, 5000, 600000, 100000000}) {
      const auto chosen = detail::choose_lu_panel(gpu_machine(1), rows, 5000, width);
      EXPECT_EQ(chosen.m % chosen.n, 0) << width << ", " << rows;
      EXPECT_LE(divide_up(rows, chosen.m), detail::most_tiles_of_panel) << width << ", " << rows;
    }
}

TEST(GpuTiles, PanelsOfSlowCoresAreNarrow) {
  const auto width = [](double panel_rate) {
    return detail::choose_lu_panel(gpu_machine(1), 32768, 32768, 0, panel_rate).n;
  };
  const double best = gpu_machine(1).rates.gpu.best_rate();
  EXPECT_EQ(width(best), width(0));
  // The widest panels that take half the time of the updates have 32768 / 45 = 728 columns.
  EXPECT_EQ(width(best / 30), 512);
  EXPECT_EQ(width(best / 1000), 256) << "the narrowest";
}

TEST(GpuTiles, OfFactorizationsFitTheMemory) {
  for (const double memory : {0.2e9, 1e9, 16e9})
    for (const Index n : {4096, 16384, 65536}) {
      auto machine = gpu_machine(1);
      machine.gpu_memory = memory;
      const auto panel = detail::choose_lu_panel(machine, n, n, 0);
      EXPECT_LE(4 * machine.bytes(n, panel.n), memory) << n;
      const auto tiles = detail::choose_cholesky_tiles(machine, n, 0);
      EXPECT_LE(8 * machine.bytes(tiles.n, tiles.n), memory) << n;
    }
  auto tall = gpu_machine(1);
  EXPECT_LE(detail::choose_lu_panel(tall, Index{1} << 30, 1000, 0).n, 2);
}

TEST(CpuTiles, OfFactorizationsOccupyAllWorkers) {
  for (const int workers : {2, 8, 64})
    for (const Index n : {1000, 4000, 16000}) {
      const auto tiles = detail::choose_cholesky_tiles(cpu_machine(workers), n, 0);
      const auto count = divide_up(n, tiles.n);
      EXPECT_GE(count * (count + 1) / 2, workers) << n;
    }
}

}  // namespace
}  // namespace tessera::test::tile_size_gpu_cpp
