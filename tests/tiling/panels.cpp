// SPDX-License-Identifier: BSD-3-Clause
// When a product is computed in tall panels, and in which ones.
#include "tiling/panels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/machines.hpp"
#include "tiling/split.hpp"
#include "tiling/tile_size.hpp"

namespace tessera::test::panels_cpp {
namespace {

using detail::choose_panels;
using detail::choose_product_tiles;
using detail::choose_triangular_panels;

TEST(Panels, AreChosenWhereLinksAreTheLimit) {
  for (const Index n : {2048, 4096, 8192}) {
    EXPECT_TRUE(choose_product_tiles(gpu_machine(1), {}, n, n, n, 0).panels.exist()) << n;
    auto slow = gpu_machine(1);  // arithmetic takes longer than copies
    slow.rates.gpu = curve({{256, 1.0}, {512, 2.0}, {1024, 4.0}, {4096, 6.0}});
    EXPECT_FALSE(choose_panels(slow, n, n, n)) << n;
  }
  EXPECT_FALSE(choose_product_tiles(gpu_machine(1), {}, 32768, 32768, 32768, 0).panels.exist());
}

TEST(Panels, NeedAnAThatIsNotTransposed) {
  const auto machine = gpu_machine(1);
  for (const bool b : {false, true}) {
    EXPECT_TRUE(choose_product_tiles(machine, {false, b}, 8192, 8192, 8192, 0).panels.exist());
    EXPECT_FALSE(choose_product_tiles(machine, {true, b}, 8192, 8192, 8192, 0).panels.exist());
  }
}

/// All panels of C use the same tile of the transposed B, and each chunk is used for all of C.
TEST(Panels, ShareATransposedB) {
  const auto panels = detail::choose_panels_transposed(gpu_machine(1), 8192, 8192, 8192);
  ASSERT_TRUE(panels);
  const Index count = detail::divide_up(8192, panels->n);
  EXPECT_EQ(panels->panels.columns, count);
  EXPECT_EQ(panels->panels.ahead, count);
  EXPECT_EQ(panels->panels.terms, 1);
  EXPECT_EQ(panels->m, 8192);
  EXPECT_FALSE(detail::choose_panels_transposed(gpu_machine(1), 20000, 8192, 8192));
  EXPECT_FALSE(detail::choose_panels_transposed(gpu_machine(1), 8192, 20000, 8192));
}

TEST(Panels, AreNotChosenIfTilesAreGiven) {
  EXPECT_FALSE(choose_product_tiles(gpu_machine(1), {}, 8192, 8192, 8192, 1024).panels.exist());
}

TEST(Panels, NeedOwnersOfOneKind) {
  auto machine = gpu_machine(2);
  ASSERT_TRUE(choose_panels(machine, 8192, 8192, 8192));
  machine.gpus_alike = false;
  EXPECT_FALSE(choose_panels(machine, 8192, 8192, 8192));
  machine.gpus_alike = true, machine.owners = false;
  EXPECT_FALSE(choose_panels(machine, 8192, 8192, 8192));
  EXPECT_FALSE(choose_panels(cpu_machine(4), 8192, 8192, 8192));
  EXPECT_FALSE(choose_panels(gpu_machine(4), 8192, 65536, 2048));
}

TEST(Panels, NeedMeasuredColumns) {
  auto machine = gpu_machine(1);
  machine.rates.column = {};
  EXPECT_FALSE(choose_panels(machine, 8192, 8192, 8192));
}

TEST(Panels, AreHighAndAligned) {
  const auto machine = gpu_machine(1);
  for (const Index m : {1, 64, 1000, 8191, 8193}) {
    EXPECT_FALSE(choose_panels(machine, m, 8192, 8192)) << m;
    EXPECT_FALSE(detail::choose_panels_transposed(machine, m, 8192, 8192)) << m;
  }
  EXPECT_FALSE(choose_panels(machine, 8192, 8192, 8191));
  EXPECT_TRUE(choose_panels(machine, 8192, 8191, 8192));  // a narrower last panel
  EXPECT_FALSE(detail::choose_panels_transposed(machine, 8192, 8191, 8192));
}

/// Nine panels on two GPUs: one has five of them.
TEST(Panels, NeedMemoryForTheLargestShare) {
  auto machine = gpu_machine(2);
  const Index n = 9 * 512, m = 8192, k = 8192;
  const double needed = machine.bytes(m, k) + machine.bytes(k, 5 * 512) + 2 * machine.bytes(m, 5 * 512);
  machine.gpu_memory = needed;
  ASSERT_TRUE(choose_panels(machine, m, n, k));
  machine.gpu_memory = 0.99 * needed;
  EXPECT_FALSE(choose_panels(machine, m, n, k));
}

/// All loads are requested at the start. If they did not fit, the last would evict the first.
TEST(Panels, NeedMemoryForAllOperandsAndASecondResult) {
  auto machine = gpu_machine(1);
  const double matrix = machine.bytes(8192, 8192);
  machine.gpu_memory = 4 * matrix;
  EXPECT_TRUE(choose_panels(machine, 8192, 8192, 8192));
  machine.gpu_memory = 3.9 * matrix;
  EXPECT_FALSE(choose_panels(machine, 8192, 8192, 8192));
}

TEST(Panels, AreTallAndShareATileOfB) {
  for (const int gpus : {1, 2})
    for (const Index n : {4096, 5000, 8192, 10000}) {
      const auto panels = choose_panels(gpu_machine(gpus), n, n, n);
      ASSERT_TRUE(panels) << n;
      EXPECT_EQ(panels->m, n);
      EXPECT_EQ(panels->panels.terms, detail::divide_up(n, panels->k));
      EXPECT_GE(detail::divide_up(n, panels->n), 4 * gpus);
    }
}

/// A tile of B is no taller than copies require, so a long sum has several of them.
TEST(Panels, OfLongSumsHaveSeveralTilesOfB) {
  for (const int gpus : {1, 2}) {
    const Index k = 130000;
    const auto tile = choose_product_tiles(gpu_machine(gpus), {}, 2000, 2000, k, 0);
    ASSERT_TRUE(tile.panels.exist());
    EXPECT_EQ(tile.m, 2000);
    EXPECT_LE(tile.panels.terms * tile.k, 16384);
    EXPECT_LT(tile.panels.terms, detail::divide_up(k, tile.k));
  }
}

/// If C is much taller than wide, each GPU gets the same number of rows.
TEST(Panels, OfTallResultsAreSharedByRows) {
  const auto one = choose_panels(gpu_machine(1), 100000, 2000, 2000),
             two = choose_panels(gpu_machine(2), 100000, 2000, 2000);
  ASSERT_TRUE(one);
  ASSERT_TRUE(two);
  EXPECT_FALSE(one->panels.by_rows);
  EXPECT_TRUE(two->panels.by_rows);
  EXPECT_EQ(detail::divide_up(100000, two->m) % 2, 0);
  EXPECT_FALSE(choose_panels(gpu_machine(2), 30000, 30000, 3000)->panels.by_rows);
}

/// Panels of 256 columns are only for results that are no wider than four of them.
TEST(Panels, AreNarrowOnlyInSmallCalls) {
  EXPECT_EQ(choose_product_tiles(gpu_machine(1), {}, 1024, 1024, 1024, 0).n, 256);
  for (const Index n : {1536, 2048, 4096, 8192}) {
    const auto tile = choose_panels(gpu_machine(1), n, n, n);
    EXPECT_TRUE(!tile || tile->n >= 512) << n;
  }
}

TEST(Panels, CutTallOperandsEvenly) {
  const auto panels = choose_panels(gpu_machine(1), 30000, 30000, 3000);
  ASSERT_TRUE(panels);
  EXPECT_EQ(panels->m, 15040);  // a multiple of 64
}

TEST(Panels, TakeLittleLongerThanTheCopies) {
  for (const Index n : {4096, 8192}) {
    const auto machine = gpu_machine(1);
    const auto panels = choose_panels(machine, n, n, n);
    ASSERT_TRUE(panels) << n;
    EXPECT_GT(panels->seconds, 3 * machine.bytes(n, n) / machine.rates.link);
    EXPECT_LT(panels->seconds, 3.6 * machine.bytes(n, n) / machine.rates.link);
  }
}

TEST(UpdatePanels, AreChosenWhereLinksAreTheLimit) {
  for (const auto what : {TriangleOf::RankK, TriangleOf::Rank2k}) {
    for (const Index n : {4096, 8192}) {
      const auto tile = detail::choose_triangle_tiles(gpu_machine(1), {false, true}, n, n, what, 0);
      ASSERT_TRUE(tile.panels.exist()) << n;
      EXPECT_EQ(tile.m, n);
      EXPECT_EQ(tile.panels.ahead, detail::divide_up(n, tile.n));
    }
    EXPECT_FALSE(detail::choose_triangle_tiles(gpu_machine(1), {true, false}, 8192, 8192, what, 0).panels.exist());
    EXPECT_FALSE(detail::choose_triangle_tiles(gpu_machine(1), {false, true}, 8192, 8192, what, 512).panels.exist());
    EXPECT_FALSE(detail::choose_update_panels(gpu_machine(1), 20000, 8192, what));
  }
  const auto product = TriangleOf::Product;
  EXPECT_FALSE(detail::choose_triangle_tiles(gpu_machine(1), {false, true}, 8192, 8192, product, 0).panels.exist());
}

/// In single precision, kernels on panels with a triangle are slow.
TEST(UpdatePanels, NeedDoublePrecision) {
  struct Type {
    double element, flops;
    bool is_double;
  };
  for (const auto& [element, flops, is_double] : {Type{4, 2, false}, {8, 2, true}, {8, 8, false}, {16, 8, true}}) {
    auto machine = gpu_machine(1);
    machine.element_size = element, machine.flops_per_multiply_add = flops;
    EXPECT_EQ(detail::choose_update_panels(machine, 4096, 4096, TriangleOf::RankK).has_value(), is_double) << element;
    EXPECT_EQ(choose_triangular_panels(machine, false, 4096, 4096).has_value(), is_double) << element;
  }
}

TEST(UpdatePanels, NeedMemoryForTheInputsAndASecondResult) {
  auto machine = gpu_machine(1);
  machine.gpu_memory = 4 * machine.bytes(8192, 8192);
  EXPECT_TRUE(detail::choose_update_panels(machine, 8192, 8192, TriangleOf::Rank2k));
  machine.gpu_memory *= 0.99;
  EXPECT_FALSE(detail::choose_update_panels(machine, 8192, 8192, TriangleOf::Rank2k));
  EXPECT_TRUE(detail::choose_update_panels(machine, 8192, 8192, TriangleOf::RankK));
}

detail::ChosenTiles choose_triangular(const MachineModel& machine, bool inverse, Index n) {
  const auto tiles = detail::choose_triangular_tiles(machine, Side::Left, inverse, n, n, 0);
  return detail::faster(machine, tiles, choose_triangular_panels(machine, inverse, n, n));
}

TEST(TriangularPanels, AreChosenWhereLinksAreTheLimit) {
  for (const bool inverse : {false, true}) {
    for (const Index n : {4096, 8192}) EXPECT_TRUE(choose_triangular(gpu_machine(1), inverse, n).panels.exist()) << n;
    for (const Index n : {16384, 32768})
      EXPECT_FALSE(choose_triangular(gpu_machine(1), inverse, n).panels.exist()) << n;
  }
}

TEST(TriangularPanels, AreNotWide) {
  for (const Index n : {2048, 4096, 8192, 12288}) {
    const auto panels = choose_triangular_panels(gpu_machine(1), true, n, n);
    ASSERT_TRUE(panels) << n;
    EXPECT_EQ(panels->m, n);
    EXPECT_LE(panels->n, 1024) << n;
    EXPECT_GE(panels->panels.ahead, 2) << n;
    EXPECT_LE(panels->panels.ahead, detail::divide_up(n, panels->n)) << n;
  }
}

TEST(TriangularPanels, NeedMemoryForTheTriangleAndTheirShareOfB) {
  auto machine = gpu_machine(1);
  machine.gpu_memory = 2 * machine.bytes(8192, 8192);
  EXPECT_TRUE(choose_triangular_panels(machine, false, 8192, 8192));
  machine.gpu_memory *= 0.99;
  EXPECT_FALSE(choose_triangular_panels(machine, false, 8192, 8192));
}

TEST(TriangularPanels, NeedOneOrTwoGpusAndLongAlignedColumns) {
  EXPECT_TRUE(choose_triangular_panels(gpu_machine(2), false, 8192, 16384));
  EXPECT_FALSE(choose_triangular_panels(gpu_machine(4), false, 8192, 65536));
  EXPECT_FALSE(choose_triangular_panels(gpu_machine(1), false, 8191, 8192));
  EXPECT_FALSE(choose_triangular_panels(gpu_machine(1), false, 512, 8192));
  EXPECT_FALSE(choose_triangular_panels(gpu_machine(1), false, 8192, 1024));  // too few panels
  EXPECT_FALSE(choose_triangular_panels(cpu_machine(4), false, 8192, 8192));
}

TEST(SymmetricPanels, AreChosenForATriangleOnTheLeft) {
  const auto choose = [](Side side, Index n) {
    return detail::choose_symmetric_tiles(gpu_machine(1), side, n, n, 0).panels.exist();
  };
  for (const Index n : {4096, 8192}) {
    EXPECT_TRUE(choose(Side::Left, n)) << n;
    EXPECT_FALSE(choose(Side::Right, n)) << n;
  }
  EXPECT_FALSE(choose(Side::Left, 32768));
}

TEST(SymmetricPanels, NeedMemoryForTwoMatricesBesideTheTriangle) {
  auto machine = gpu_machine(1);
  machine.gpu_memory = 3 * machine.bytes(8192, 8192);
  EXPECT_TRUE(detail::choose_symmetric_panels(machine, 8192, 8192));
  machine.gpu_memory *= 0.99;
  EXPECT_FALSE(detail::choose_symmetric_panels(machine, 8192, 8192));
}

TEST(TriangularPanels, TakeLongerToSolve) {
  const auto products = choose_triangular_panels(gpu_machine(1), false, 8192, 8192),
             solves = choose_triangular_panels(gpu_machine(1), true, 8192, 8192);
  ASSERT_TRUE(products && solves);
  EXPECT_GT(solves->seconds, products->seconds);
}

}  // namespace
}  // namespace tessera::test::panels_cpp
