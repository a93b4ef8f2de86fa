// SPDX-License-Identifier: BSD-3-Clause
// Plans: those with given tiles agree with those that choose the tiles, and owners' grids fit the columns.
#include "plan/plans.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "plan/invented_rates.hpp"
#include "tile/region.hpp"

namespace tessera::test::plan_cpp {
namespace {

using algorithms::Plan;
using machine::Machine;
using tile::divide_up;
using tile::Part;
using tile::Region;

Machine machine_with_memory(double bytes, Index tile) {
  auto machine = machine_with(1, 2, Placement::Home);
  machine.gpu_memory = bytes, machine.tile = tile;
  return machine;
}

// Three tiles of 1000 x 1000 doubles take 24 MB, two panels of 4000 x 1000 take 64 MB.
TEST(Plan, RefusesAGivenTileWhoseTasksDoNotFitIntoAGpu) {
  const InventedRates rates;
  const auto plan_all = [](double bytes, Index tile) {
    const auto machine = machine_with_memory(bytes, tile);
    std::vector<std::string> refused;
    const auto plan = [&](const char* name, auto make) {
      try {
        make();
      } catch (const ArgumentError& error) {
        EXPECT_EQ(error.argument(), "tile");
        refused.emplace_back(name);
      }
    };
    const auto left = Side::Left;
    plan("product", [&] { plan::plan_product(machine, 'd', Op::NoTrans, Op::Trans, 4000, 4000, 4000); });
    plan("triangle",
         [&] { plan::plan_triangle(machine, 'd', plan::SumOf::RankK, Op::NoTrans, Op::Trans, 4000, 4000); });
    plan("symmetric", [&] { plan::plan_symmetric(machine, 'd', left, 4000, 4000); });
    plan("triangular", [&] { plan::plan_triangular(machine, 'd', left, Op::NoTrans, true, 4000, 4000); });
    plan("solves", [&] { plan::plan_solves(machine, 'd', left, 4000, 4000); });
    plan("cholesky", [&] { plan::plan_cholesky(machine, 'd', 4000); });
    plan("lu_nopiv", [&] { plan::plan_lu_nopiv(machine, 'd', 4000, 4000); });
    plan("qr", [&] { plan::plan_geqrf(machine, 'd', 4000, 4000); });
    plan("lu", [&] { plan::plan_getrf(machine, 'd', 4000, 4000); });
    return refused;
  };
  EXPECT_THAT(plan_all(20e6, 1000), testing::SizeIs(9));
  EXPECT_THAT(plan_all(30e6, 1000), testing::ElementsAre("qr", "lu"));
  EXPECT_THAT(plan_all(70e6, 1000), testing::IsEmpty());
  EXPECT_THAT(plan_all(0, 1000), testing::IsEmpty());  // not known
}

// The first panels leave while the last ones arrive.
TEST(Plan, CutsATallMatrixForQrIntoSeveralPanels) {
  const InventedRates rates;
  const auto width = [machine = machine_with(1, 1, Placement::Home)](Index m, Index n) {
    return plan::plan_geqrf(machine, 'd', m, n).tile.n;
  };
  EXPECT_EQ(width(1000000, 256), 32);
  EXPECT_EQ(width(1000000, 1000), 128);
  EXPECT_EQ(width(1000000, 10), 32);
  EXPECT_GE(width(16384, 16384), 256);
}

// A tile that is larger than the matrix is as small as the matrix.
TEST(Plan, TakesALargeTileForASmallMatrix) {
  const InventedRates rates;
  EXPECT_NO_THROW(plan::plan_product(machine_with_memory(30e6, 100000), 'd', Op::NoTrans, Op::NoTrans, 900, 900, 900));
}

void expect_same_loops(const Plan& a, const Plan& b) {
  EXPECT_EQ(a.k, b.k);
  EXPECT_EQ(a.terms, b.terms);
  EXPECT_EQ(a.sums, b.sums);
  EXPECT_EQ(a.block.rows, b.block.rows);
  EXPECT_EQ(a.block.columns, b.block.columns);
  EXPECT_EQ(a.grid.p, b.grid.p);
  EXPECT_EQ(a.grid.q, b.grid.q);
}

// Five workers, one tile of C, 20000 terms in chunks of 500: eight chunks for each of five sums.
TEST(Plan, SplitsALongSumOverTheWorkers) {
  const auto plan = plan::plan_sums(machine_with(5, 0, Placement::Scheduler), 's', {30, 30, 500}, 1, 20000);
  EXPECT_EQ(plan.terms, 40);
  EXPECT_EQ(plan.sums, 5);
  EXPECT_EQ(plan::plan_sums(machine_with(5, 0, Placement::Scheduler), 's', {30, 30, 500}, 3, 20000).sums, 1);
  EXPECT_EQ(plan::plan_sums(machine_with(5, 0, Placement::Scheduler), 's', {30, 30, 500}, 1, 700).sums, 2);
}

TEST(Plan, OfGivenTilesIsThatOfChosenTiles) {
  const auto machine = machine_with(5, 0, Placement::Scheduler);
  for (const Index n : {1, 30, 1000})
    for (const Index k : {1, 700, 20000}) {
      const auto product = plan::plan_product(machine, 's', Op::NoTrans, Op::Trans, n, 2 * n, k);
      const auto tiles = [&](const Region& region, Index columns, const Plan& plan) {
        return region.tiles(divide_up(n, plan.tile.m), divide_up(columns, plan.tile.n));
      };
      expect_same_loops(product, plan::plan_sums(machine, 's', product.tile, tiles(Part::All, 2 * n, product), k));
      const auto triangle = plan::plan_triangle(machine, 's', plan::SumOf::RankK, Op::NoTrans, Op::Trans, n, k);
      const auto mt = divide_up(n, triangle.tile.m), nt = divide_up(n, triangle.tile.n);
      const auto region = Region::triangle(Uplo::Lower, mt, nt, triangle.tile.m, triangle.tile.n);
      expect_same_loops(triangle, plan::plan_sums(machine, 's', triangle.tile, tiles(region, n, triangle), k));
    }
}

// Remembered plans of calls with the same type and extents must not be confused.
TEST(Plan, IsRememberedForEachRoutine) {
  const InventedRates rates;
  const auto machine = machine_with(1, 1, Placement::Home);
  constexpr Index n = 3000;
  const auto all = [&] {
    using enum plan::SumOf;
    std::vector<std::string> plans;
    const auto add = [&](const algorithms::Plan& plan) { plans.push_back(plan.reason); };
    add(plan::plan_getrf(machine, 'd', n, n));
    add(plan::plan_geqrf(machine, 'd', n, n));
    add(plan::plan_lu_nopiv(machine, 'd', n, n));
    add(plan::plan_cholesky(machine, 'd', n));
    for (const auto side : {Side::Left, Side::Right}) {
      for (const bool inverse : {false, true})
        add(plan::plan_triangular(machine, 'd', side, Op::NoTrans, inverse, n, n));
      add(plan::plan_symmetric(machine, 'd', side, n, n));
    }
    for (const auto what : {Triangle, RankK, Rank2k})
      add(plan::plan_triangle(machine, 'd', what, Op::NoTrans, Op::Trans, n, n));
    return plans;
  };
  const auto chosen = all();
  EXPECT_EQ(all(), chosen);
  for (const auto* const kind : {"panels", "tiles on the diagonal", "tiles of C"})
    EXPECT_THAT(chosen, testing::Contains(testing::HasSubstr(kind)));
  EXPECT_THAT(chosen[0], testing::Not(testing::HasSubstr("diagonal")));
  EXPECT_THAT(chosen[4], testing::HasSubstr("diagonal")) << "trmm, after LU with the same extents";
}

TEST(Plan, KnowsWhetherASmallMatrixIsAPartOfALargeOne) {
  InventedRates rates;
  rates.prefer_close_columns();
  const auto machine = machine_with(1, 3, Placement::Home);
  const auto seconds = [&](Index ld) {
    return plan::plan_product(machine, 'd', Op::NoTrans, Op::NoTrans, 1000, 1000, 1000, true,
                              plan::are_far_apart('d', 1000, ld))
        .seconds;
  };
  EXPECT_DOUBLE_EQ(seconds(1024), seconds(1000)) << "still close";
  EXPECT_GT(seconds(20000), 1.2 * seconds(1000));
  EXPECT_FALSE(plan::are_far_apart('d', 20000, 20000)) << "a large matrix";
}

TEST(Plan, IsRememberedForEachWayToCopyPageableMemory) {
  InventedRates rates;
  rates.link(1e8);  // slower than copies of this host
  auto machine = machine_with(1, 2, Placement::Home);
  machine.gpu_memory = 1e10, machine.operands = machine::in_pageable_memory;
  const auto seconds = [&] {
    return plan::plan_product(machine, 'd', Op::NoTrans, Op::NoTrans, 4000, 4000, 4000).seconds;
  };
  const double copied_by_drivers = seconds();
  machine.posts_copies = true;
  EXPECT_NE(seconds(), copied_by_drivers) << "all tiles are requested at the start";
}

TEST(Plan, IsRememberedForEachKindOfBeta) {
  const InventedRates rates;
  const auto machine = machine_with(1, 2, Placement::Home);
  const auto seconds = [&](bool reads_result) {
    using plan::SumOf;
    return std::vector{
        plan::plan_product(machine, 'd', Op::NoTrans, Op::NoTrans, 4000, 4000, 4000, reads_result).seconds,
        plan::plan_triangle(machine, 'd', SumOf::RankK, Op::NoTrans, Op::Trans, 4000, 4000, reads_result).seconds,
        plan::plan_symmetric(machine, 'd', Side::Left, 4000, 4000, reads_result).seconds};
  };
  const auto read = seconds(true), overwritten = seconds(false);
  for (std::size_t i = 0; i < read.size(); i++) EXPECT_LT(overwritten[i], read[i]) << "C is not copied to the GPUs";
}

TEST(Plan, IsChosenWithoutOwners) {
  const InventedRates rates;
  const auto plan =
      plan::plan_product(machine_with(2, 2, Placement::Scheduler), 'd', Op::NoTrans, Op::NoTrans, 8192, 8192, 8192);
  EXPECT_GT(plan.seconds, 0);
  EXPECT_EQ(plan.grid.size(), 1);
  EXPECT_EQ(plan.gpus, 0);
}

TEST(Plan, GivesEveryCoreATile) {
  const auto machine = machine_with(4, 0, Placement::Scheduler);
  const auto tiles = [](const algorithms::Plan& plan, Index m, Index n) {
    return divide_up(m, plan.tile.m) * divide_up(n, plan.tile.n) * plan.sums;
  };
  EXPECT_GE(tiles(plan::plan_product(machine, 'd', Op::NoTrans, Op::NoTrans, 4000, 4000, 4000), 4000, 4000), 4);
  EXPECT_GE(tiles(plan::plan_product(machine, 'd', Op::NoTrans, Op::NoTrans, 50, 50, 100000), 50, 50), 2);
  EXPECT_EQ(tiles(plan::plan_product(machine, 'd', Op::NoTrans, Op::NoTrans, 20, 20, 20), 20, 20), 1);
}

TEST(Plan, CutsEdgesByTheNumberOfGpus) {
  using tile::EdgeTiles;
  const auto edges = [](int gpus, std::optional<bool> even) {
    auto machine = machine_with(1, gpus, Placement::Home);
    machine.even_edges = even;
    return plan::edges_of_products(machine, gpus);
  };
  EXPECT_EQ(edges(0, {}), EdgeTiles::Ragged);
  EXPECT_EQ(edges(1, {}), EdgeTiles::NotLow);
  EXPECT_EQ(edges(2, {}), EdgeTiles::Ragged);
  for (const int gpus : {1, 2}) {
    EXPECT_EQ(edges(gpus, true), EdgeTiles::Even);
    EXPECT_EQ(edges(gpus, false), EdgeTiles::Ragged);
  }
  EXPECT_EQ(edges(0, true), EdgeTiles::Ragged);
}

TEST(Plan, RequestsAllTilesOfSmallProducts) {
  const InventedRates rates;
  auto machine = machine_with(1, 2, Placement::Home);
  const auto loads = [&](Index n) { return plan::plan_product(machine, 'd', {512, 512, 512}, n, n, n).load_first; };
  EXPECT_TRUE(loads(1000));
  EXPECT_FALSE(loads(4000));
  machine.gpu_memory = 1e7;
  EXPECT_FALSE(loads(1000));
  machine.gpu_memory = 1e9, machine.operands = machine::in_pageable_memory;
  EXPECT_FALSE(loads(1000));
  machine.posts_copies = true;
  EXPECT_TRUE(loads(1000));
  EXPECT_TRUE(loads(4000));
  EXPECT_FALSE(loads(8000)) << "more than half of the memory";
  machine.operands = machine::in_host_memory, machine.placement = Placement::Scheduler;
  EXPECT_FALSE(loads(1000));
}

TEST(Plan, SharesAColumnOnlyIfThereAreFewerColumnsThanGpus) {
  struct Case {
    Index columns;
    int p, q;
  };
  for (const auto placement : {Placement::Home, Placement::Owner})
    for (const auto& [columns, p, q] : {Case{1, 4, 1}, {2, 2, 2}, {3, 1, 3}, {4, 1, 4}, {9, 1, 4}}) {
      const auto grid = plan::plan_columns(machine_with(1, 4, placement), {}, columns).grid;
      EXPECT_EQ(grid.p, p) << columns;
      EXPECT_EQ(grid.q, q) << columns;
    }
  EXPECT_EQ(plan::plan_columns(machine_with(1, 4, Placement::Scheduler), {}, 9).grid.size(), 1);
}

TEST(Region, CountsTheTilesThatItContains) {
  for (const Index mt : {1, 2, 5})
    for (const Index nt : {1, 3, 4, 10})
      for (const auto& region : {Region(Part::All), Region(Part::Lower), Region(Part::Upper), Region(Part::Lower, 2),
                                 Region(Part::Upper, 2)}) {
        Index count = 0;
        for (Index j = 0; j < nt; j++)
          for (Index i = 0; i < mt; i++) count += region.contains(i, j) ? 1 : 0;
        EXPECT_EQ(region.tiles(mt, nt), count) << mt << 'x' << nt;
      }
}

}  // namespace
}  // namespace tessera::test::plan_cpp
