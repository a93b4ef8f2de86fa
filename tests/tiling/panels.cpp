// SPDX-License-Identifier: BSD-3-Clause
// When a product is computed in tall panels, and in which.
#include "tiling/panels.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/machines.hpp"
#include "tiling/split.hpp"
#include "tiling/tile_size.hpp"

namespace tessera::test {
namespace {

using detail::choose_panels;
using detail::choose_product_tiles;

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

/// All panels of C use one tile of the transposed B, and each chunk is used for all of C.
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

/// All loads are requested at the start: if they did not fit, the last would evict the first.
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

}  // namespace
}  // namespace tessera::test
