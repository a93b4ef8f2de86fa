// SPDX-License-Identifier: BSD-3-Clause
// What calls record into a graph, and which candidate is chosen.
#include "plan/choose.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "plan/calls.hpp"
#include "plan/candidates.hpp"

namespace tessera::test::choose_cpp {
namespace {

using algorithms::Plan;
using device::CostCurve;
using plan::Cholesky;
using plan::Graph;
using plan::Lu;
using plan::LuNoPiv;
using plan::Machine;
using plan::Search;
using plan::Triangular;
using tile::TileExtents;

/// The machine properties that the algorithms query.
machine::Machine gpus(int count) {
  machine::Machine machine;
  for (int gpu = 0; gpu < count; gpu++) machine.gpus.push_back(gpu);
  machine.cuda_gpus = count;
  machine.placement = Placement::Home;
  return machine;
}

/// GPUs of 10 TFLOP/s with links of 20 GB/s to the host, and links of another rate to each other.
Machine model_of(int count, double peer_rate) {
  Machine model;
  plan::Gpu gpu;
  gpu.kernels["gemm"] = CostCurve({{1e6, 20e-6}, {1e9, 120e-6}, {1e12, 0.1}});
  gpu.memory_rate = 1e12, gpu.in_rate = gpu.out_rate = 20e9, gpu.latency = 10e-6, gpu.overhead = 10e-6;
  model.gpus.assign(static_cast<std::size_t>(count), gpu);
  const plan::PeerLink link{peer_rate, 10e-6, false};
  model.peers.assign(static_cast<std::size_t>(count), std::vector(static_cast<std::size_t>(count), link));
  return model;
}

/// A plan for some GPUs.
Plan plan_of(const TileExtents& tile, int gpus, tile::OwnerGrid grid) {
  Plan plan;
  plan.tile = tile, plan.gpus = gpus, plan.grid = grid, plan.load_first = true;
  return plan;
}
/// The same in square tiles, and in panels of columns.
Plan squares(Index tile, int gpus) { return plan_of({tile, tile, tile}, gpus, tile::owner_grid(gpus)); }
Plan panels(Index height, Index width, int gpus) { return plan_of({height, width, width}, gpus, {1, gpus}); }

template <typename Call>
std::string operations(const Call& call, const Plan& plan) {
  Graph graph;
  graph.gpus = plan.gpus;
  call.write(gpus(plan.gpus), plan, graph);
  std::string text;
  for (const auto& operation : graph.operations)
    text += (text.empty() ? "" : " ") + std::string(graph.kinds[static_cast<std::size_t>(operation.kind)]);
  return text;
}

TEST(Cores, GetAMarginOnlyWhereGpusCanMakeUpForThem) {
  EXPECT_DOUBLE_EQ(plan::caution(0.1, 0), 1.1);
  EXPECT_DOUBLE_EQ(plan::caution(0.1, 1), 1);
  EXPECT_DOUBLE_EQ(plan::caution(0.1, 100), 1);
  EXPECT_GT(plan::caution(0.1, 0.1), plan::caution(0.1, 0.2));
}

TEST(Cores, GetTheLastColumnsThatTheyComputeInTheTimeOfTheGpus) {
  Machine model = model_of(2, 0);
  model.core.kernels["gemm"] = CostCurve({{1e6, 1e-5}, {1e12, 10}});
  model.sharing_cores = 3;
  constexpr double flops = 1e13, gpus = 2.7e12;  // 9 times the rate of the cores
  const auto last = [&](double power) {
    return plan::last_for_cores(model, {{1024, 1024, 1024}, flops, flops / gpus, 16384, 1024, power});
  };
  EXPECT_EQ(last(1).count, 3);
  EXPECT_NEAR(static_cast<double>(last(1).whole()), 1638, 24);
  EXPECT_NEAR(static_cast<double>(last(2).whole()), 841, 24);
  EXPECT_NEAR(static_cast<double>(last(3).whole()), 565, 24);
  model.lost_on_cores = 16;
  EXPECT_NEAR(static_cast<double>(last(1).whole()), 1638 - 3 * 16 * 0.9, 24);
  model.error_of_cores = 0.1;
  EXPECT_LT(last(1).whole(), 1560);
  model.sharing_cores = 0;
  EXPECT_EQ(last(1).count, 0);
}

TEST(Tiles, AreAsManyForEachGpu) {
  EXPECT_EQ(plan::even_extent(16384, 4096, 3), 2752);
  EXPECT_EQ(plan::even_extent(16384, 2048, 3), 1856);
  EXPECT_EQ(plan::even_extent(16384, 4096, 4), 4096);
  EXPECT_EQ(plan::even_extent(100, 256, 2), 64);
}

TEST(Graph, HasTheOperationsOfAFactorization) {
  EXPECT_EQ(operations(Cholesky{{{'d', 512, 512}}}, squares(256, 1)), "potrf trsm syrk potrf");
  EXPECT_EQ(operations(LuNoPiv{{{'d', 512, 512}}}, squares(256, 1)), "getrf_nopiv trsm trsm gemm getrf_nopiv");
}

TEST(Graph, HasTheOperationsOnPanels) {
  EXPECT_EQ(operations(Lu{{{'d', 512, 512}}}, panels(512, 256, 1)), "getrf panel_update getrf laswp");
  EXPECT_EQ(operations(Lu{{{'d', 300, 600}}}, panels(512, 300, 1)), "getrf panel_update");
}

TEST(Graph, HasTheOperationsOnPanelsOfFullHeight) {
  EXPECT_EQ(operations(plan::Qr{{{'d', 512, 512}}}, panels(512, 256, 1)), "geqrf larfb geqrf");
  Graph graph;
  plan::Qr{{{'d', 512, 512}}}.write(gpus(1), panels(512, 256, 1), graph);
  EXPECT_EQ(graph.requests.size(), 2);
  EXPECT_EQ(graph.tiles.size(), 2 + 2 * 2) << "and for each panel the factors of its reflectors, and their block";
}

// Two panels of two tiles: a tile row is final as soon as its panel is factorized and the other panel is updated.
TEST(Graph, HasAllTilesOfAPanel) {
  Graph graph;
  Lu{{{'d', 512, 512}}}.write(gpus(1), panels(256, 256, 1), graph);
  EXPECT_EQ(graph.requests.size(), 4);
  ASSERT_EQ(graph.operations.size(), 4);
  const auto& factorization = graph.operations[0];
  EXPECT_EQ(factorization.panel.rows, 512);
  EXPECT_EQ(factorization.panel.columns, 256);
  EXPECT_EQ(factorization.output, 0);
  const auto further = graph.further_of(factorization);
  ASSERT_EQ(further.size(), 2);
  EXPECT_EQ(further[0].tile, 1);
  EXPECT_TRUE(further[0].reads && further[0].writes);
  EXPECT_TRUE(graph.tiles[static_cast<std::size_t>(further[1].tile)].temporary);
  EXPECT_FALSE(further[1].reads) << "pivots";
  EXPECT_EQ(graph.operations[1].output, 2);
  EXPECT_EQ(graph.operations[2].output, 3) << "the second panel begins in the second row of tiles";
  EXPECT_EQ(graph.operations[3].output, 1) << "rows are exchanged in the first panel";
}

TEST(Graph, InspectsTilesBeforeTheyAreSolvedByBlocks) {
  EXPECT_EQ(operations(Triangular{'d', Side::Left, true, true, true, 1024, 512}, squares(512, 1)),
            "diagonal_blocks inspect trsm gemm diagonal_blocks inspect trsm");
  EXPECT_EQ(operations(Triangular{'d', Side::Left, true, true, true, 512, 512}, plan_of({256, 512, 256}, 1, {1, 1})),
            "trsm gemm trsm");
}

TEST(Graph, IsTheSameOnBothSides) {
  for (const bool inverse : {false, true})
    EXPECT_EQ(
        operations(Triangular{'d', Side::Left, inverse, true, true, 2000, 3000}, plan_of({512, 1024, 512}, 2, {1, 2})),
        operations(Triangular{'d', Side::Right, inverse, true, true, 2000, 3000},
                   plan_of({1024, 512, 512}, 2, {1, 2})));
  auto left = plan_of({2000, 30, 512}, 1, {1, 1}), right = plan_of({30, 2000, 512}, 1, {1, 1});
  left.panels.ahead = right.panels.ahead = 1;
  const auto in_panels = operations(Triangular{'d', Side::Left, true, true, true, 2000, 30}, left);
  EXPECT_EQ(in_panels, operations(Triangular{'d', Side::Right, true, true, true, 2000, 30}, right));
  EXPECT_EQ(in_panels, "diagonal_blocks inspect trsm diagonal_blocks trsm diagonal_blocks trsm diagonal_blocks trsm");
}

TEST(Graph, CopiesOnlyTheTriangleOfATile) {
  Graph graph;
  const plan::Outline A(graph, 1024, 1024, 512, 512, 'd', true);
  const double all = 8 * 512 * 512;
  EXPECT_LT(graph.tiles[0].bytes, 0.7 * all);
  EXPECT_EQ(graph.tiles[1].bytes, all);
  EXPECT_EQ(graph.tiles[1].column, 8 * 512);
}

TEST(Graph, PanelsOfATriangleBecomeShorter) {
  Graph graph;
  const plan::Outline A(graph, 2048, 2048, 2048, 512, 'd', true);
  ASSERT_EQ(graph.tiles.size(), 4);
  for (std::size_t i = 1; i < 4; i++) EXPECT_LT(graph.tiles[i].bytes, graph.tiles[i - 1].bytes);
}

TEST(Graph, RequestsTilesOnceAndOnGpusThatTakePart) {
  Graph graph;
  graph.gpus = 4;
  Cholesky{{{'d', 4096, 4096}}}.write(gpus(4), squares(512, 2), graph);
  std::vector<int> tiles;
  for (const auto& [tile, gpu] : graph.requests) {
    tiles.push_back(tile);
    EXPECT_LT(gpu, 2);
  }
  EXPECT_EQ(tiles.size(), 36);  // the lower triangle of 8x8 tiles
  std::ranges::sort(tiles);
  EXPECT_EQ(std::ranges::adjacent_find(tiles), tiles.end());
}

// Only GPUs compute these inverses, and only they divide by them.
TEST(Graph, InvertsNoBlocksOfTilesOfCores) {
  auto machine = gpus(1);
  machine.sharing_cores = {1, 2};
  auto plan = squares(1024, 1);
  plan.rows_for_cores = plan.columns_for_cores = {2, 512};
  const auto check = [&](const auto& call) {
    Graph graph;
    graph.gpus = 1;
    call.write(machine, plan, graph);
    int of_gpu = 0, by_cores = 0;
    for (const auto& operation : graph.operations) {
      const bool of_core = graph.core_of(operation) >= 0;
      by_cores += of_core;
      if (graph.kinds[plan::index(operation.kind)] != "diagonal_blocks") continue;
      EXPECT_FALSE(of_core);
      of_gpu++;
    }
    EXPECT_GT(by_cores, 0);
    return of_gpu;
  };
  EXPECT_EQ(check(Cholesky{{{'d', 4096, 4096}}}), 3) << "of tiles on the diagonal";
  EXPECT_EQ(check(LuNoPiv{{{'d', 4096, 4096}}}), 6) << "of both triangles";
}

TEST(Graph, RequestsNoResultThatIsOverwritten) {
  for (const bool reads_result : {false, true}) {
    Graph graph;
    const plan::Sums call{'d', plan::SumOf::Product, 512, 512, 1024, Op::NoTrans, Op::NoTrans, reads_result};
    auto plan = squares(512, 1);
    plan.k = 1024, plan.terms = 2;
    call.write(gpus(1), plan, graph);
    EXPECT_EQ(graph.requests.size(), reads_result ? 5 : 4) << "two tiles of A and of B";
  }
}

TEST(Graph, KnowsWhereTheOperandsAre) {
  Graph graph;
  graph.operands = 1;
  const plan::Outline of_one_gpu(graph, 1024, 1024, 512, 512, 'd');
  for (const auto& tile : graph.tiles) {
    EXPECT_EQ(tile.home, 1);
    EXPECT_TRUE(tile.returns);
  }
  graph.clear();
  graph.operands = machine::on_their_owners, graph.owners = {2, 2};
  const plan::Outline spread(graph, 1024, 1024, 512, 512, 'd');
  std::vector<int> homes;
  for (const auto& tile : graph.tiles) {
    homes.push_back(tile.home);
    EXPECT_FALSE(tile.returns);
  }
  EXPECT_THAT(homes, testing::ElementsAre(0, 2, 1, 3));  // column by column
}

Plan chosen(Index n, int count, double peer_rate, int operands = machine::in_host_memory) {
  const auto model = model_of(count, peer_rate);
  auto machine = gpus(count);
  machine.operands = operands;
  const Cholesky call{{{'d', n, n}}};
  Search search(model, machine, call);
  for (int used = 1; used <= count; used++)
    for (const Index tile : {256, 512, 1024, 2048}) search.add(squares(tile, used));
  return search.best();
}

TEST(Choice, UsesMoreGpusForLargerMatrices) {
  EXPECT_EQ(chosen(512, 4, 100e9).gpus, 1);
  int before = 1;
  for (const Index n : {1024, 4096, 16384}) {
    const int used = chosen(n, 4, 100e9).gpus;
    EXPECT_GE(used, before) << n;
    before = used;
  }
  EXPECT_EQ(before, 4);
}

TEST(Choice, UsesFewerGpusIfTheirLinksAreSlow) { EXPECT_LE(chosen(4096, 4, 1e9).gpus, chosen(4096, 4, 100e9).gpus); }

TEST(Choice, StaysOnTheGpuThatHasTheOperandsIfItsLinksAreSlow) {
  EXPECT_EQ(chosen(4096, 2, 1e9, 0).gpus, 1);
  EXPECT_EQ(chosen(16384, 2, 300e9, 0).gpus, 2);
}

TEST(Choice, IsFasterTheNearerTheOperandsAre) {
  const auto model = model_of(2, 100e9);
  auto machine = gpus(2);
  const Cholesky call{{{'d', 8192, 8192}}};
  std::vector<double> seconds;
  for (const int operands : {machine::on_their_owners, 0, machine::in_host_memory}) {
    machine.operands = operands;
    Search search(model, machine, call);
    search.add(squares(1024, 2));
    seconds.push_back(search.best().seconds);
  }
  EXPECT_LT(seconds[0], seconds[1]);
  EXPECT_LT(seconds[1], seconds[2]);
}

TEST(Choice, UsesSmallerTilesForSmallerMatrices) {
  EXPECT_LE(chosen(1024, 2, 50e9).tile.n, chosen(16384, 2, 50e9).tile.n);
}

/// GPUs and width of the panels of an LU factorization whose columns take a given time.
Plan chosen_panels(Index m, Index n, int count, double seconds_of_column) {
  auto model = model_of(count, 100e9);
  for (auto& gpu : model.gpus) gpu.panels["getrf"].add(256, CostCurve({{1024, seconds_of_column}}));
  const auto machine = gpus(count);
  const Lu call{{{'d', m, n}}};
  Search search(model, machine, call);
  for (int used = 1; used <= count; used *= 2)
    for (const Index width : {256, 512, 1024}) search.add(panels(1024, width, used));
  return search.best();
}

TEST(Choice, OfPanelsDependsOnTheTimeOfAColumn) {
  EXPECT_EQ(chosen_panels(4096, 4096, 2, 1e-6).gpus, 2);
  EXPECT_EQ(chosen_panels(4096, 4096, 2, 1e-4).gpus, 1) << "panels follow one another";
  EXPECT_EQ(chosen_panels(6000, 2000, 2, 1e-6).gpus, 2);
}

/// The choice for a solve on a GPU that copies short columns at a given rate and long ones at 20 GB/s.
Plan chosen_solve(Side side, Index order, Index columns, double rate_of_short) {
  auto model = model_of(1, 100e9);
  constexpr double low = 16384, high = 131072;
  auto& in = model.gpus.front().in;
  in.idle = in.computing = CostCurve({{low, low / rate_of_short}, {high, high / 20e9}});
  const auto machine = gpus(1);
  const Triangular call{'d', side, true, true, true, order, columns};
  Search search(model, machine, call);
  for (auto& plan : candidates(model, machine, call)) search.add(std::move(plan));
  return search.best();
}

TEST(Choice, OfAFewRightSidesIsOnePanelIfLongColumnsAreCopiedFaster) {
  for (const Index columns : {1, 10, 300}) {
    const auto left = chosen_solve(Side::Left, 16384, columns, 5e9),
               right = chosen_solve(Side::Right, 16384, columns, 5e9);
    EXPECT_TRUE(left.panels.exist());
    EXPECT_EQ(left.tile.m, 16384);
    EXPECT_EQ(left.tile.n, columns);
    EXPECT_TRUE(right.panels.exist());
    EXPECT_EQ(right.tile.n, 16384);
    EXPECT_EQ(right.tile.m, columns);
  }
  EXPECT_FALSE(chosen_solve(Side::Left, 16384, 4000, 5e9).panels.exist()) << "of so many there are several panels";
  EXPECT_FALSE(chosen_solve(Side::Left, 500, 10, 5e9).panels.exist()) << "its columns are short in any case";
}

TEST(Panels, TakeTheTimeOfTheirColumns) {
  plan::PanelTimes times;
  times.add(1024, CostCurve({{4000, 3}, {8000, 4}}));
  times.add(256, CostCurve({{1000, 1}, {2000, 2}}));
  EXPECT_DOUBLE_EQ(times.seconds(1500, 100), 100 * 1.5);
  EXPECT_DOUBLE_EQ(times.seconds(500, 256), 256 * 1.0) << "as long as the shortest panel that was timed";
  EXPECT_DOUBLE_EQ(times.seconds(16000, 1024), 1024 * 6.0) << "each further row adds the same";
  EXPECT_DOUBLE_EQ(times.seconds(2000, 640), 640 * 2.5);
  EXPECT_DOUBLE_EQ(times.seconds(4000, 2048), 2048 * 3.0);
}

TEST(Panels, WiderThanThoseThatWereTimedAlsoTakeTheTimeOfTheirProducts) {
  auto gpu = model_of(1, 1e9).gpus.front();
  gpu.overhead = 0;
  gpu.panels["getrf"].add(256, CostCurve({{1000, 1}, {2000, 2}}));
  const auto seconds = [&](double rows, double columns) {
    return gpu.task_seconds("getrf", {.flops = rows * columns * columns, .panel = {rows, columns}}, 8);
  };
  EXPECT_DOUBLE_EQ(seconds(1500, 256), 256 * 1.5);
  // Two panels, the second of which is shorter; half of the flops are in the product between them.
  EXPECT_DOUBLE_EQ(seconds(1750, 512), 512 * (1750 - 128) / 1000. + gpu.product_seconds(1750. * 512 * 512 / 2));
}

// A candidate that would take longer to rehearse than the call takes is not.
TEST(Choice, TakesTheMostPromisingPlanIfAllAreTooLargeToRehearse) {
  const auto model = model_of(1, 1e9);
  const auto machine = gpus(1);
  const Cholesky call{{{'d', 100000, 100000}}};
  Search search(model, machine, call);
  for (const Index tile : {16, 32}) search.add(squares(tile, 1));
  const auto best = search.best();
  EXPECT_EQ(best.tile.n, 32);
  EXPECT_GT(best.seconds, 0);
}

/// The choice for a solve on two GPUs and two cores, whose task of 1e8 operations takes a given time.
Plan chosen_beside_cores(int cores, double seconds_of_narrow) {
  auto model = model_of(2, 50e9);
  model.core.kernels["gemm"] = CostCurve({{1e8, seconds_of_narrow}, {1e9, 1e-3}, {1e12, 1}});
  model.sharing_cores = cores;
  auto machine = gpus(2);
  if (cores > 0) machine.sharing_cores = {10, 11};
  const Triangular call{'d', Side::Left, true, true, false, 4096, 4096};
  Search search(model, machine, call);
  for (const Index tile : {512, 1024}) search.add(plan_of({tile, tile, tile}, 2, {1, 2}));
  return search.best();
}

TEST(Choice, SharesWithCoresOnlyIfTheCallIsThenFaster) {
  const auto alone = chosen_beside_cores(0, 1e-4), shared = chosen_beside_cores(2, 1e-4),
             late = chosen_beside_cores(2, 1);  // though whole tiles are fast
  EXPECT_TRUE(shared.has_cores());
  EXPECT_LT(shared.seconds, alone.seconds);
  EXPECT_FALSE(late.has_cores());
  EXPECT_EQ(late.tile.n, alone.tile.n);
  EXPECT_DOUBLE_EQ(late.seconds, alone.seconds);
}

TEST(Choice, IsTheSameEachTime) {
  const auto first = chosen(6000, 4, 50e9), second = chosen(6000, 4, 50e9);
  EXPECT_EQ(first.tile.n, second.tile.n);
  EXPECT_EQ(first.gpus, second.gpus);
}

TEST(Choice, IsPredictedAsTheRehearsalOfItself) {
  const auto model = model_of(2, 50e9);
  const auto machine = gpus(2);
  const Triangular call{'d', Side::Left, true, true, true, 4096, 4096};
  Search search(model, machine, call);
  for (const Index tile : {512, 1024}) search.add(plan_of({tile, tile, tile}, 2, {1, 2}));
  const auto best = search.best();
  Graph graph;
  graph.gpus = 2;
  call.write(machine, best, graph);
  EXPECT_DOUBLE_EQ(plan::Rehearsal(model, graph, 2).run().seconds, best.seconds);
}

// Both before and after the choice.
TEST(Choice, OfAProductKnowsItsEdges) {
  for (const int count : {1, 2}) {
    const auto model = model_of(count, 50e9);
    const auto machine = gpus(count);
    const plan::Sums call{'d', plan::SumOf::Product, 2100, 2100, 2100};
    for (const auto& plan : candidates(model, machine, call))
      EXPECT_EQ(plan.at_the_edges, plan::edges_of_products(machine, plan.gpus));
  }
  auto plan = squares(1024, 1);
  plan.at_the_edges = tile::EdgeTiles::NotLow, plan.k = 2100, plan.terms = 3;
  Graph graph;
  plan::Sums{'d', plan::SumOf::Product, 2100, 2100, 2100}.write(gpus(1), plan, graph);
  for (const auto& tile : graph.tiles) EXPECT_GT(tile.bytes, 8 * 500 * 500) << "none is low";
}

}  // namespace
}  // namespace tessera::test::choose_cpp
