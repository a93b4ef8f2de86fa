// SPDX-License-Identifier: BSD-3-Clause
// Rehearsals of small graphs whose times are easy to compute by hand.
#include "plan/rehearsal.hpp"

#include <gtest/gtest.h>

namespace tessera::test::rehearsal_cpp {
namespace {

using device::CostCurve;
using plan::Forecast;
using plan::Graph;
using plan::Machine;
using plan::never;
using plan::Rehearsal;

/// GPUs that compute 1 flop/s, with links of 1 byte/s to the host and none to each other. Nothing else takes time.
Machine machine_with(int gpus) {
  Machine machine;
  plan::Gpu gpu;
  gpu.kernels["gemm"] = CostCurve({{1, 1}});
  gpu.memory_rate = gpu.in_rate = gpu.out_rate = 1;
  machine.gpus.assign(static_cast<std::size_t>(gpus), gpu);
  machine.peers.assign(static_cast<std::size_t>(gpus), std::vector<plan::PeerLink>(static_cast<std::size_t>(gpus)));
  machine.runtime = {.begin = 0, .submit = 0, .push = 0, .notice = 0, .finish = 0, .tile = 0};
  return machine;
}

constexpr int host = machine::in_host_memory;

/// A graph of products.
struct Products : Graph {
  /// @param session  GPUs of the session; owners from this number on are cores
  explicit Products(int session = 32) {
    kinds = {"gemm"};
    gpus = session;
  }
  /// @param home  the GPU where the tile is at first, or the host
  int tile(double bytes = 1, int home = host) { return add({.bytes = bytes, .column = bytes, .home = home}); }
  void product(int input, int output, double flops, int owner, bool reads_output = true) {
    operations.push_back({0, flops, owner, output, reads_output, {input, -1, -1}});
  }
};

double seconds(const Machine& machine, const Graph& graph) {
  return Rehearsal(machine, graph, machine.gpu_count()).run().seconds;
}

TEST(Rehearsal, FetchesComputesAndWritesBack) {
  Products graph;
  graph.product(-1, graph.tile(3), 10, 0);
  EXPECT_DOUBLE_EQ(seconds(machine_with(1), graph), 3 + 10 + 3);
}

// Four products of 10 s on two cores; the last one waits for the first.
TEST(Rehearsal, CoresTakeOperationsInTurnAndCopyNothing) {
  auto machine = machine_with(0);
  machine.core.kernels["gemm"] = CostCurve({{1, 1}});
  machine.cpu_workers = 2;
  Products graph;
  const int first = graph.tile(1000);
  graph.product(-1, first, 10, -1);
  for (int i = 0; i < 2; i++) graph.product(-1, graph.tile(1000), 10, -1);
  graph.product(first, graph.tile(1000), 10, -1);
  EXPECT_DOUBLE_EQ(Rehearsal(machine, graph, 0).run().seconds, 20);
  graph.operations[0].flops = 15;
  EXPECT_DOUBLE_EQ(Rehearsal(machine, graph, 0).run().seconds, 25);
  EXPECT_EQ(Rehearsal(machine, graph, 0).run(24).seconds, never);
}

TEST(Rehearsal, OperationsWithAsManyFlopsMayTakeOtherTimes) {
  auto machine = machine_with(1);
  machine.gpus[0].panels["gemm"].add(1, CostCurve({{1, 3}, {2, 4}}));
  Products graph;
  for (const double rows : {1.0, 2.0}) {
    graph.product(-1, graph.tile(0), 10, 0);
    graph.operations.back().panel = {.rows = rows, .columns = 1};
  }
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 3 + 4);
}

TEST(Rehearsal, CoresBesideGpusMayEndLast) {
  auto machine = machine_with(1);
  machine.core.kernels["gemm"] = CostCurve({{1, 2}});
  Products graph(1);
  graph.product(-1, graph.tile(1), 10, 0);
  const int of_core = graph.tile(1);
  constexpr int core = 1;
  for (int i = 0; i < 2; i++) graph.product(-1, of_core, 8, core);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 2 * (8 + 8) * 1.0);
  graph.operations.pop_back();
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 2 * 8);
  graph.operations.pop_back();
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 1 + 10 + 1);
}

TEST(Rehearsal, ACoreWaitsForTheResultOfAGpuAndAGpuForThatOfACore) {
  auto machine = machine_with(1);
  machine.core.kernels["gemm"] = CostCurve({{1, 2}});
  Products graph(1);
  const int of_gpu = graph.tile(3), of_core = graph.tile(5);
  constexpr int core = 1;
  graph.product(-1, of_gpu, 10, 0);
  graph.product(of_gpu, of_core, 8, core);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 3 + 10 + 3 + 2 * 8);
  graph.product(of_core, graph.tile(1), 1, 0);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 3 + 10 + 3 + 2 * 8 + (5 + 1) + 1 + 1);
}

TEST(Rehearsal, ACoreRunsAheadOnTheTilesThatTheHostHas) {
  auto machine = machine_with(1);
  machine.core.kernels["gemm"] = CostCurve({{1, 1}});
  Products graph(1);
  const int of_gpu = graph.tile(1), first = graph.tile(1), second = graph.tile(1);
  constexpr int core = 1;
  graph.product(-1, of_gpu, 10, 0);
  graph.product(of_gpu, first, 5, core);
  graph.product(-1, second, 12, core);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 1 + 10 + 1 + 5);
}

// The last product waits for the second one, for which its input is evicted.
TEST(Rehearsal, ATileThatWasEvictedIsCopiedAgain) {
  auto machine = machine_with(1);
  Products graph;
  const int input = graph.tile(4), other = graph.tile(4);
  const int result = graph.tile(1);
  graph.product(input, graph.tile(1), 1, 0), graph.product(other, result, 1, 0), graph.product(input, result, 1, 0);
  Rehearsal in_core(machine, graph, 1);
  EXPECT_DOUBLE_EQ(in_core.run().bytes_in, 4 + 4 + 2);
  machine.memory = 8;
  Rehearsal out_of_core(machine, graph, 1);
  EXPECT_DOUBLE_EQ(out_of_core.run().bytes_in, 4 + 4 + 4 + 2);
}

TEST(Rehearsal, AResultThatIsEvictedUnfinishedLeavesAndReturns) {
  auto machine = machine_with(1);
  machine.memory = 8;
  Products graph;
  const int first = graph.tile(5), second = graph.tile(5), third = graph.tile(5);
  for (const int tile : {first, second, third}) graph.product(-1, tile, 1, 0);
  graph.product(third, first, 1, 0);
  const auto forecast = Rehearsal(machine, graph, 1).run();
  EXPECT_LT(forecast.seconds, never);
  EXPECT_GE(forecast.bytes_in, 4 * 5) << "the first tile twice";
}

// A panel of two tiles is changed twice, and then updates another one.
TEST(Rehearsal, AnOperationMayWriteSeveralTiles) {
  Products graph;
  const int above = graph.tile(2), below = graph.tile(2), result = graph.tile(4);
  graph.further = {{below, true, true}, {below, true, true}, {below, false, true}};
  graph.product(-1, above, 10, 0), graph.product(-1, above, 10, 0), graph.product(above, result, 10, 0);
  for (int i = 0; i < 3; i++) graph.operations[static_cast<std::size_t>(i)].first = i;
  for (int i = 0; i < 3; i++) graph.operations[static_cast<std::size_t>(i)].end = i + 1;
  EXPECT_DOUBLE_EQ(seconds(machine_with(1), graph), 2 + 2 + 10 + 10 + 4 + 10 + 4);
  graph.operations[2].owner = 1;
  EXPECT_DOUBLE_EQ(Rehearsal(machine_with(2), graph, 2).run().seconds, 2 + 2 + 10 + 10 + 4 + 2 + 2 + 10 + 4)
      << "both tiles pass through the host";
}

TEST(Rehearsal, ARowExchangeTakesTheTimeOfTheMemory) {
  auto machine = machine_with(1);
  machine.gpus[0].memory_rate = 64, machine.element_size = 8;
  Graph graph;
  graph.kinds = {"laswp"};
  graph.operations.push_back({0, 5, 0, graph.add({.bytes = 2, .column = 2}), true});
  graph.operations[0].panel.moved = 5;
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 2 + 5 + 2);
}

TEST(Rehearsal, APanelIsFactorizedBesideProducts) {
  auto machine = machine_with(1);
  machine.gpus[0].panels["getrf"].add(1, CostCurve({{1, 10}}));
  machine.gpus[0].panels["getrf_beside_updates"].add(1, CostCurve({{1, 20}}));
  machine.gpus[0].products_beside = 0.5;
  Graph graph;
  graph.kinds = {"getrf_beside_updates"};
  graph.operations.push_back({0, 6, 0, graph.add({.bytes = 2, .column = 2}), true});
  graph.operations[0].panel = {.rows = 1, .columns = 1};
  graph.operations[0].products = 5;
  EXPECT_DOUBLE_EQ(seconds(machine, graph) - 4, 10 + 5) << "the rest of the panel alone";
  graph.operations[0].products = 20;
  EXPECT_DOUBLE_EQ(seconds(machine, graph) - 4, 40);
}

TEST(Rehearsal, AnOutputThatIsNotReadIsNotFetched) {
  Products graph;
  graph.product(-1, graph.tile(3), 10, 0, false);
  EXPECT_DOUBLE_EQ(seconds(machine_with(1), graph), 10 + 3);
}

TEST(Rehearsal, OverlapsCopiesWithArithmetic) {
  Products graph;
  for (int i = 0; i < 4; i++) graph.product(-1, graph.tile(), 10, 0);
  EXPECT_DOUBLE_EQ(seconds(machine_with(1), graph), 1 + 4 * 10 + 1);
}

TEST(Rehearsal, KeepsTilesOnTheGpu) {
  Products graph;
  const int input = graph.tile(5), output = graph.tile();
  for (int i = 0; i < 4; i++) graph.product(input, output, 10, 0);
  EXPECT_DOUBLE_EQ(seconds(machine_with(1), graph), 5 + 1 + 4 * 10 + 1);
}

TEST(Rehearsal, CountsTheOverheadOfTasksAndCalls) {
  auto machine = machine_with(1);
  machine.gpus[0].overhead = 0.5, machine.gpus[0].latency = 0.25;
  machine.runtime.begin = 1, machine.runtime.finish = 2, machine.runtime.tile = 4;
  Products graph;
  graph.product(-1, graph.tile(3), 10, 0);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 1 + 3.25 + 10.5 + 3.25 + 2 + 4);
}

TEST(Rehearsal, GpusShareALink) {
  auto machine = machine_with(2);
  Products graph;
  for (int gpu = 0; gpu < 2; gpu++) graph.product(-1, graph.tile(4), 10, gpu);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 4 + 10 + 4);
  machine.shared.push_back({0b11, 1, 2});
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 8 + 10 + 4);
}

// The second GPU has its 2 bytes after 4 s, the first one its 4 bytes after 6 s.
TEST(Rehearsal, GpusGetEqualPartsOfALink) {
  auto machine = machine_with(2);
  machine.shared.push_back({0b11, 1, 2});
  Products graph;
  graph.product(-1, graph.tile(4), 10, 0);
  graph.product(-1, graph.tile(2), 20, 1);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 4 + 20 + 2);
}

// The tile of the last product arrives while the second product is computed.
TEST(Rehearsal, FetchesATileThatIsWantedNext) {
  Products graph;
  const int first = graph.tile(1), second = graph.tile(1), last = graph.tile(5);
  graph.product(-1, first, 10, 0);
  graph.product(first, second, 20, 0, false);
  graph.product(second, last, 10, 0);
  EXPECT_DOUBLE_EQ(seconds(machine_with(1), graph), 1 + 10 + 20 + 5 + 10 + 5);
  graph.operations[0].wanted_next = last;
  EXPECT_DOUBLE_EQ(seconds(machine_with(1), graph), 1 + 10 + 20 + 10 + 5);
}

TEST(Rehearsal, TheMemoryOfTheHostIsSharedByBothDirections) {
  auto machine = machine_with(2);
  Products graph;
  graph.product(-1, graph.tile(4), 4, 0);
  graph.product(-1, graph.tile(8), 1, 1);  // arrives while the other result leaves
  machine.shared.push_back({0b11, 2, 2, 0});
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 8 + 1 + 8);
  machine.shared.back().both = 1;
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 4 + 8 + 4 + 8) << "12 bytes in and 12 out, one after another";
}

TEST(Rehearsal, DirectCopiesUseTheSharedLinksOfTheGroupsThatTheyEnter) {
  auto machine = machine_with(2);
  for (auto& row : machine.peers) row.assign(2, {2, 0, false});
  Products graph;
  graph.product(graph.tile(8, 0), graph.tile(1), 10, 1, false);
  machine.shared = {{0b11, 1, 1}};
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 4 + 10 + 1);
  machine.shared = {{0b10, 1, 1}};
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 8 + 10 + 1);
}

TEST(Rehearsal, DirectLinksOfAGpuShareItsWires) {
  auto machine = machine_with(3);
  for (auto& row : machine.peers) row.assign(3, {2, 0, false});
  Products graph;
  for (int gpu = 1; gpu < 3; gpu++) graph.product(graph.tile(8, 0), graph.tile(1), 10, gpu, false);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 4 + 10 + 1);
  machine.peers_together = 2;
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 8 + 10 + 1);
}

TEST(Rehearsal, CopiesInBothDirectionsShareALinkInHalfDuplex) {
  auto machine = machine_with(1);
  Products graph;
  graph.product(-1, graph.tile(2), 1, 0);
  graph.product(-1, graph.tile(6), 1, 0);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 2 + 6 + 1 + 6);
  machine.gpus[0].half_duplex = true;
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 2 + 6 + 2 + 6);
}

TEST(Rehearsal, ATriangleReturnsToAGpuColumnByColumn) {
  auto machine = machine_with(2);
  machine.peers[0][1] = machine.peers[1][0] = {4, 0, false};
  machine.runtime.copy = 2;
  Graph graph;
  graph.kinds = {"gemm"}, graph.gpus = 2;
  const int tile = graph.add({.bytes = 8, .column = 8, .calls_home = 3, .home = 0});
  graph.operations.push_back({0, 10, 1, tile, true, {-1, -1, -1}});
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 2 + 10 + 3 * 2 + 2);
}

TEST(Rehearsal, TheSameThreadsStageAllCopiesOfPageableMemory) {
  auto machine = machine_with(2);
  machine.staging.rate = 1;
  Products graph;
  for (int gpu = 0; gpu < 2; gpu++) graph.product(-1, graph.tile(4), 10, gpu);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 4 + 10 + 4);
  graph.operands = machine::in_pageable_memory;
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 4 + 4 + 10 + 4);
  machine.staging.rate = 2;
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 4 + 10 + 4);
  machine = machine_with(1), machine.staging.rate = 1;
  machine.gpus[0].in.idle = CostCurve({{1, 100}});  // columns, of which a staging buffer has none
  Products both;
  both.operands = machine::in_pageable_memory;
  both.product(-1, both.tile(2), 1, 0);
  both.product(-1, both.tile(6), 1, 0);
  EXPECT_DOUBLE_EQ(seconds(machine, both), 2 + 6 + 2 + 6);
}

// A tile of 4 MiB is copied in four pieces of 1 MiB, which threads of the host copy in parts of a quarter.
TEST(Rehearsal, PageableMemoryIsCopiedInPieces) {
  constexpr double mib = 1 << 20;
  auto machine = machine_with(1);
  auto& gpu = machine.gpus[0];
  gpu.in_rate = gpu.out_rate = mib, gpu.latency = 2;
  machine.runtime.begin = 1;
  Products graph;
  graph.product(-1, graph.tile(4 * mib), 10, 0);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 1 + 6 + 10 + 6);
  graph.operands = machine::in_pageable_memory;
  machine.staging = {.rate = 8 * mib, .core_rate = mib / 4, .in_pieces = true};
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 1 + 1 + 12 + 10 + 12 + 1)
      << "the host copies the first piece, and the last";
  machine.staging.core_rate = mib;
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 1 + 0.25 + 12 + 10 + 12 + 0.25);
  machine.runtime.copy = 3;
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 1 + 3.25 + 12 + 10 + 12 + 0.25) << "the other pieces are posted meanwhile";
}

// On their way back, they are copied as all others are.
TEST(Rehearsal, SmallTilesInPageableMemoryBypassTheCaches) {
  auto machine = machine_with(1);
  machine.gpus[0].in_rate = machine.gpus[0].out_rate = 100;
  machine.staging = {.rate = 4, .core_rate = 1e9, .largest_streamed = 8, .rate_streamed = 2};
  for (const double bytes : {8.0, 16.0}) {
    Products graph;
    graph.operands = machine::in_pageable_memory;
    graph.product(-1, graph.tile(bytes), 10, 0);
    EXPECT_NEAR(seconds(machine, graph), bytes / (bytes > 8 ? 4 : 2) + 10 + bytes / 4, 1e-6) << bytes;
  }
}

TEST(Rehearsal, SimulatedCopiesOfPageableMemoryHoldTheLinkWhileACoreFillsTheFirstBuffer) {
  constexpr double mib = 1 << 20;
  auto machine = machine_with(1);
  machine.gpus[0].in_rate = machine.gpus[0].out_rate = mib;
  machine.staging = {.rate = 8 * mib, .core_rate = mib / 4};
  Products graph;
  graph.operands = machine::in_pageable_memory;
  for (int i = 0; i < 2; i++) graph.product(-1, graph.tile(4 * mib), 10, 0);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), (8 + 4) + (8 + 4) + 10 + (8 + 4));
}

// A tile of 4 MiB in eight pieces of 512 KiB, each of which one of eight threads copies.
TEST(Rehearsal, CopiesThatAreNotPostedHaveAPieceForEachThread) {
  constexpr double mib = 1 << 20;
  auto machine = machine_with(1);
  auto& gpu = machine.gpus[0];
  gpu.in_rate = gpu.out_rate = mib, gpu.latency = 2;
  machine.runtime.begin = 1;
  machine.staging = {.rate = 8 * mib, .core_rate = mib, .in_pieces = true, .blocks = true, .threads = 7};
  Products graph;
  graph.operands = machine::in_pageable_memory;
  graph.product(-1, graph.tile(4 * mib), 10, 0);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 1 + 0.5 + (4 + 8 * 2) + 10 + (4 + 8 * 2) + 0.5);
}

TEST(Rehearsal, CopiesThatAreNotPostedOccupyTheDriver) {
  auto machine = machine_with(1);
  machine.staging = {.rate = 100, .core_rate = 100, .in_pieces = true};
  Products graph;
  graph.operands = machine::in_pageable_memory;
  for (int i = 0; i < 2; i++) graph.product(-1, graph.tile(4), 10, 0);
  const double posted = seconds(machine, graph);
  EXPECT_NEAR(posted, 4 + 10 + 10 + 4, 0.1);
  machine.staging.blocks = true;
  EXPECT_NEAR(seconds(machine, graph), posted + 4, 0.1);
}

TEST(Rehearsal, TilesOfAPeerComeDirectlyOrThroughTheHost) {
  auto machine = machine_with(2);
  Products graph;
  const int first = graph.tile(8), second = graph.tile(1);
  graph.product(-1, first, 10, 0, false);
  graph.product(first, second, 10, 1, false);
  const auto through_host = Rehearsal(machine, graph, 2).run();
  EXPECT_DOUBLE_EQ(through_host.seconds, 10 + 8 + 8 + 10 + 1);
  EXPECT_DOUBLE_EQ(through_host.bytes_in, 8);
  machine.peers[0][1] = {4, 0.5, false};
  const auto from_peer = Rehearsal(machine, graph, 2).run();
  EXPECT_DOUBLE_EQ(from_peer.seconds, 10 + 2.5 + 10 + 1);
  EXPECT_DOUBLE_EQ(from_peer.bytes_between, 8);
}

TEST(Rehearsal, NothingIsCopiedWhereTheTilesAre) {
  Products graph;
  graph.product(graph.tile(5, 0), graph.tile(3, 0), 10, 0);
  const auto forecast = Rehearsal(machine_with(1), graph, 1).run();
  EXPECT_DOUBLE_EQ(forecast.seconds, 10);
  EXPECT_DOUBLE_EQ(forecast.bytes_in, 0);
}

TEST(Rehearsal, TilesOfAnotherGpuComeFromThereAndReturn) {
  auto machine = machine_with(2);
  machine.peers[0][1] = {2, 0, false}, machine.peers[1][0] = {1, 0, false};
  Products graph;
  graph.product(-1, graph.tile(8, 0), 10, 1);
  const auto forecast = Rehearsal(machine, graph, 2).run();
  EXPECT_DOUBLE_EQ(forecast.seconds, 4 + 10 + 8);
  EXPECT_DOUBLE_EQ(forecast.bytes_between, 16);
  EXPECT_DOUBLE_EQ(forecast.bytes_in, 0);
}

TEST(Rehearsal, WithoutAPeerLinkTilesPassThroughTheHost) {
  Products graph;
  graph.product(-1, graph.tile(8, 0), 10, 1);
  EXPECT_DOUBLE_EQ(seconds(machine_with(2), graph), 8 + 8 + 10 + 8 + 8);
}

TEST(Rehearsal, AGpuMayHaveTilesWithoutTakingPart) {
  auto machine = machine_with(3);
  machine.peers[2][0] = machine.peers[0][2] = {2, 0, false};
  Products graph;
  for (int i = 0; i < 40; i++) graph.product(-1, graph.tile(2, 2), 10, 0);
  const auto forecast = Rehearsal(machine, graph, 1).run();
  EXPECT_DOUBLE_EQ(forecast.seconds, 1 + 40 * 10 + 1);
  EXPECT_EQ(forecast.steals, 0);
}

TEST(Rehearsal, SpreadResultsStayWhereTheyAreComputed) {
  auto machine = machine_with(2);
  machine.peers[0][1] = {2, 0, false};
  Products graph;
  const int input = graph.tile(4, 0);
  for (int gpu = 0; gpu < 2; gpu++) {
    const int output = graph.tile(8, gpu);
    graph.tiles[static_cast<std::size_t>(output)].returns = false;
    graph.product(input, output, 10, gpu);
  }
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 2 + 10);
}

TEST(Rehearsal, DriverCallsForPartialTilesDoNotDelayPeerCopies) {
  auto machine = machine_with(2);
  machine.runtime.copy = 1;
  machine.peers[0][1] = {4, 0.5, true};
  Products graph;
  const int first = graph.add({.bytes = 8, .column = 8, .calls = 20}), second = graph.tile(1);
  graph.product(-1, first, 10, 0);
  graph.product(first, second, 10, 1, false);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 8 + 10 + 8 + 2.5 + 10 + 1);
}

TEST(Rehearsal, AWriterWaitsForReaders) {
  Products graph;
  const int read = graph.tile(), result = graph.tile();
  auto machine = machine_with(2);
  machine.peers[0][1] = machine.peers[1][0] = {1e9, 0, false};
  graph.product(read, result, 100, 0, false);
  graph.product(-1, read, 1, 1, true);
  EXPECT_NEAR(seconds(machine, graph), 1 + 100 + 1 + 1, 0.01);
}

TEST(Rehearsal, AnIdleGpuSteals) {
  Products graph;
  for (int i = 0; i < 40; i++) graph.product(-1, graph.tile(0.01), 10, 0);
  const auto one = Rehearsal(machine_with(1), graph, 1).run(), two = Rehearsal(machine_with(2), graph, 2).run();
  EXPECT_NEAR(one.seconds, 400, 1);
  EXPECT_GT(two.steals, 0);
  EXPECT_LT(two.seconds, 0.6 * one.seconds);
}

// Nothing runs on the second GPU while its own operation waits for the first one.
TEST(Rehearsal, AGpuStealsWhileItsOwnOperationsWait) {
  Products graph;
  const int first = graph.tile(0.01);
  graph.product(-1, first, 200, 0, false);
  for (int i = 0; i < 20; i++) graph.product(-1, graph.tile(0.01), 10, 0);
  graph.product(first, graph.tile(0.01), 10, 1);
  const auto forecast = Rehearsal(machine_with(2), graph, 2).run();
  EXPECT_GT(forecast.steals, 0);
  EXPECT_LT(forecast.seconds, 300);
}

// Both GPUs get their second tile at the same time, and the slower one starts its operation as soon as the other is
// free.
TEST(Rehearsal, AnOperationThatStartsIsNotStolen) {
  auto machine = machine_with(2);
  machine.gpus[1].kernels["gemm"] = CostCurve({{1, 2.5}});
  Products graph;
  for (int i = 0; i < 4; i++) graph.product(-1, graph.tile(2), 1, i % 2);
  EXPECT_EQ(Rehearsal(machine, graph, 2).run().steals, 0);
}

TEST(Rehearsal, CanBeUsedAgain) {
  Products graph;
  auto machine = machine_with(2);
  machine.core.kernels["gemm"] = CostCurve({{1, 1}});
  Rehearsal used(machine, graph);
  for (const int operations : {40, 3, 7}) {
    graph.clear(), graph.kinds = {"gemm"};
    for (int i = 0; i < operations; i++) graph.product(-1, graph.tile(5), 10, i % 2);
    for (const int gpus : {2, 1, 0}) {
      used.prepare(gpus);
      const auto again = used.run(), fresh = Rehearsal(machine, graph, gpus).run();
      EXPECT_EQ(again.seconds, fresh.seconds) << operations << " operations on " << gpus;
      EXPECT_EQ(again.bytes_in, fresh.bytes_in);
      EXPECT_EQ(again.steals, fresh.steals);
    }
  }
}

TEST(Rehearsal, LeavesOperationsToAMuchFasterGpu) {
  auto machine = machine_with(2);
  machine.gpus[1].kernels["gemm"] = CostCurve({{1, 100}});
  machine.gpus[1].alike_first = false;
  Products graph;
  for (int i = 0; i < 10; i++) graph.product(-1, graph.tile(0.01), 10, i % 2);
  EXPECT_LT(seconds(machine, graph), 110);
}

TEST(Rehearsal, ColumnsAreCopiedSlowlyWhileTheGpuComputes) {
  auto machine = machine_with(1);
  machine.gpus[0].in = {CostCurve({{1, 2}}), CostCurve({{1, 4}})};
  Products graph;
  graph.product(-1, graph.add({10, 1}), 1000, 0);
  graph.product(-1, graph.add({10, 1}), 1000, 0);
  const auto forecast = Rehearsal(machine, graph, 1).run();
  EXPECT_DOUBLE_EQ(forecast.seconds, 20 + 2000 + 10);
  graph.operations.front().flops = 1;  // the second tile arrives late, though it could be copied at once
  EXPECT_GT(seconds(machine, graph), 20 + 20 + 1000 + 10 - 1);
}

TEST(Rehearsal, ColumnsCloseTogetherAreCopiedFaster) {
  auto machine = machine_with(1);
  machine.gpus[0].in = machine.gpus[0].out = {CostCurve({{1, 4}}), CostCurve({{1, 4}})};
  machine.gpus[0].close = {CostCurve({{1, 2}}), CostCurve({{1, 2}})};
  const auto seconds_if_apart = [&](double bytes) {
    Products graph;
    graph.product(-1, graph.add({.bytes = 10, .column = 1, .apart = bytes}), 1000, 0);
    return seconds(machine, graph);
  };
  constexpr double close = machine::MachineRates::close;
  EXPECT_DOUBLE_EQ(seconds_if_apart(close + 1) - seconds_if_apart(close), 2 * 10 * (4 - 2));  // to the GPU and back
}

TEST(Rehearsal, IsGivenUpWhenItTakesTooLong) {
  Products graph;
  for (int i = 0; i < 100; i++) graph.product(-1, graph.tile(), 10, 0);
  const auto machine = machine_with(1);
  Rehearsal rehearsal(machine, graph, 1);
  EXPECT_EQ(rehearsal.run(50).seconds, never);
  EXPECT_LT(rehearsal.finished(), 10);
}

TEST(Rehearsal, TasksAreSubmittedOneAfterAnother) {
  auto machine = machine_with(1);
  machine.runtime.submit = 10;
  Products graph;
  for (int i = 0; i < 5; i++) graph.product(-1, graph.tile(), 1, 0, false);
  EXPECT_DOUBLE_EQ(seconds(machine, graph), 4 * 10 + 1 + 1);
}

}  // namespace
}  // namespace tessera::test::rehearsal_cpp
