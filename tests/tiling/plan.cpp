// SPDX-License-Identifier: BSD-3-Clause
// Plans: those with given tiles agree with those that choose the tiles, and owners' grids fit the columns.
#include "plan/plans.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "support/machines.hpp"
#include "tiling/region.hpp"

namespace tessera::test::plan_cpp {
namespace {

using detail::divide_up;
using detail::Machine;
using detail::Part;
using detail::Plan;
using detail::Region;

Machine machine_with(int cpu_workers, int gpus, Placement placement) {
  Machine machine;
  machine.cpu_workers = cpu_workers;
  for (int gpu = 0; gpu < gpus; gpu++) machine.gpus.push_back(gpu);
  machine.placement = placement;
  return machine;
}

/// Gives GPUs invented rates during the lifetime of this object. Without rates, no tiles would be chosen for them.
class InventedRates {
 public:
  InventedRates() : rates_(const_cast<detail::MachineRates&>(detail::machine_rates<double>({}))), before_(rates_) {
    rates_ = gpu_machine(1).rates;
  }
  ~InventedRates() { rates_ = before_; }
  InventedRates(const InventedRates&) = delete;
  InventedRates& operator=(const InventedRates&) = delete;

 private:
  detail::MachineRates& rates_;
  detail::MachineRates before_;
};

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
    plan("product", [&] { detail::plan_product(machine, 'd', Op::NoTrans, Op::Trans, 4000, 4000, 4000); });
    plan("triangle", [&] {
      detail::plan_triangle(machine, 'd', Uplo::Lower, Op::NoTrans, Op::Trans, 4000, 4000, detail::TriangleOf::RankK);
    });
    plan("symmetric", [&] { detail::plan_symmetric(machine, 'd', left, 4000, 4000); });
    plan("triangular", [&] { detail::plan_triangular(machine, 'd', left, Op::NoTrans, true, 4000, 4000); });
    plan("solves", [&] { detail::plan_solves(machine, 'd', left, 4000, 4000); });
    plan("cholesky", [&] { detail::plan_cholesky(machine, 'd', 4000); });
    plan("lu_nopiv", [&] { detail::plan_lu_nopiv(machine, 'd', 4000, 4000); });
    plan("lu", [&] { detail::plan_lu(machine, 'd', 4000, 4000); });
    return refused;
  };
  EXPECT_THAT(plan_all(20e6, 1000), testing::SizeIs(8));
  EXPECT_THAT(plan_all(30e6, 1000), testing::ElementsAre("lu"));
  EXPECT_THAT(plan_all(70e6, 1000), testing::IsEmpty());
  EXPECT_THAT(plan_all(0, 1000), testing::IsEmpty());  // not known
}

// The first panels leave while the last ones arrive.
TEST(Plan, CutsATallMatrixForQrIntoSeveralPanels) {
  const InventedRates rates;
  const auto width = [machine = machine_with(1, 1, Placement::Home)](Index m, Index n) {
    return detail::plan_qr(machine, 'd', m, n).tile.n;
  };
  EXPECT_EQ(width(1000000, 256), 32);
  EXPECT_EQ(width(1000000, 1000), 128);
  EXPECT_EQ(width(1000000, 10), 32);
  EXPECT_GE(width(16384, 16384), 256);
}

// A tile that is larger than the matrix is as small as the matrix.
TEST(Plan, TakesALargeTileForASmallMatrix) {
  const InventedRates rates;
  EXPECT_NO_THROW(
      detail::plan_product(machine_with_memory(30e6, 100000), 'd', Op::NoTrans, Op::NoTrans, 900, 900, 900));
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
  const auto plan = detail::plan_sums(machine_with(5, 0, Placement::Scheduler), 's', {30, 30, 500}, 1, 20000);
  EXPECT_EQ(plan.terms, 40);
  EXPECT_EQ(plan.sums, 5);
  EXPECT_EQ(detail::plan_sums(machine_with(5, 0, Placement::Scheduler), 's', {30, 30, 500}, 3, 20000).sums, 1);
  EXPECT_EQ(detail::plan_sums(machine_with(5, 0, Placement::Scheduler), 's', {30, 30, 500}, 1, 700).sums, 2);
}

TEST(Plan, OfGivenTilesIsThatOfChosenTiles) {
  const auto machine = machine_with(5, 0, Placement::Scheduler);
  for (const Index n : {1, 30, 1000})
    for (const Index k : {1, 700, 20000}) {
      const auto product = detail::plan_product(machine, 's', Op::NoTrans, Op::Trans, n, 2 * n, k);
      const auto tiles = [&](const Region& region, Index columns, const Plan& plan) {
        return region.tiles(divide_up(n, plan.tile.m), divide_up(columns, plan.tile.n));
      };
      expect_same_loops(product, detail::plan_sums(machine, 's', product.tile, tiles(Part::All, 2 * n, product), k));
      for (const auto uplo : {Uplo::Lower, Uplo::Upper}) {
        const auto triangle =
            detail::plan_triangle(machine, 's', uplo, Op::NoTrans, Op::Trans, n, k, detail::TriangleOf::RankK);
        const auto mt = divide_up(n, triangle.tile.m), nt = divide_up(n, triangle.tile.n);
        const auto region = Region::triangle(uplo, mt, nt, triangle.tile.m, triangle.tile.n);
        expect_same_loops(triangle, detail::plan_sums(machine, 's', triangle.tile, tiles(region, n, triangle), k));
      }
    }
}

TEST(Plan, CutsEdgesByTheNumberOfGpus) {
  using detail::EdgeTiles;
  const auto edges = [](int gpus, std::optional<bool> even) {
    auto machine = machine_with(1, gpus, Placement::Home);
    machine.even_edges = even;
    return detail::edges_of_products(machine);
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

TEST(Plan, SharesAColumnOnlyIfThereAreFewerColumnsThanGpus) {
  struct Case {
    Index columns;
    int p, q;
  };
  for (const auto placement : {Placement::Home, Placement::Owner})
    for (const auto& [columns, p, q] : {Case{1, 4, 1}, {2, 2, 2}, {3, 1, 3}, {4, 1, 4}, {9, 1, 4}}) {
      const auto grid = detail::plan_columns(machine_with(1, 4, placement), {}, columns).grid;
      EXPECT_EQ(grid.p, p) << columns;
      EXPECT_EQ(grid.q, q) << columns;
    }
  EXPECT_EQ(detail::plan_columns(machine_with(1, 4, Placement::Scheduler), {}, 9).grid.size(), 1);
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
