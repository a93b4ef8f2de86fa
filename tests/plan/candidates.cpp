// SPDX-License-Identifier: BSD-3-Clause
// Candidates of calls with awkward shapes: each one computes the whole result, fits into memory, and can be rehearsed.
#include "plan/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <tessera/error.hpp>

#include "plan/choose.hpp"
#include "plan/invented_rates.hpp"
#include "plan/rehearsal.hpp"

namespace tessera::test::candidates_cpp {
namespace {

using algorithms::Plan;
using plan::Graph;
using plan::SumOf;

struct Shape {
  Index m, n, k;
};
/// Vectors, primes, thin matrices, and extents just above a tile.
constexpr Shape shapes[]{Shape{1, 1, 1},    {1, 5000, 1},    {5000, 1, 1},      {1, 1, 5000},
                         {997, 1009, 1013}, {1000000, 3, 3}, {3, 3, 9999},      {257, 513, 256},
                         {2049, 300, 17},   {4097, 1025, 2}, {1500, 1500, 1500}};

struct Case {
  const char* name;
  int cpu_workers, gpus, cores;
  double memory;  ///< of a GPU [bytes]
};
/// Each has another number of workers, because models of machines are kept.
constexpr Case cases[]{Case{"cores", 7, 0, 0, 0},         {"one GPU", 1, 1, 0, 0},
                       {"five GPUs", 1, 5, 0, 0},         {"little memory", 1, 2, 0, 1e8},
                       {"least memory", 1, 3, 0, 0x1p20}, {"cores beside GPUs", 6, 2, 6, 0}};

machine::Machine machine_of(const Case& c) {
  auto machine = machine_with(c.cpu_workers, c.gpus, c.gpus > 0 ? Placement::Home : Placement::Scheduler);
  machine.gpu_memory = c.memory;
  for (int core = 0; core < c.cores; core++) machine.sharing_cores.push_back(c.gpus + core);
  return machine;
}

/// The bytes of all tiles that are written. Temporary tiles do not count.
double written(const Graph& graph) {
  std::set<int> tiles;
  for (const auto& operation : graph.operations) {
    tiles.insert(operation.output);
    for (const auto& further : graph.further_of(operation))
      if (further.writes) tiles.insert(further.tile);
  }
  double bytes = 0;
  for (const int tile : tiles)
    if (const auto& sizes = graph.tiles[plan::index(tile)]; !sizes.temporary) bytes += sizes.bytes;
  return bytes;
}

/// Flops of the products, solves and factorizations of a graph.
double flops_of(const Graph& graph) {
  double flops = 0;
  for (const auto& operation : graph.operations) {
    const auto kind = graph.kinds[plan::index(operation.kind)];
    const bool in_memory = kind == "inspect" || kind == "add" || kind == "scale" || kind == "laswp";
    if (!in_memory && kind != "diagonal_blocks") flops += operation.flops;
  }
  return flops;
}

double largest_task(const Graph& graph) {
  double most = 0;
  for (const auto& operation : graph.operations) {
    std::set<int> tiles(operation.inputs.begin(), operation.inputs.end());
    tiles.insert(operation.output);
    for (const auto& further : graph.further_of(operation)) tiles.insert(further.tile);
    double bytes = 0;
    for (const int tile : tiles) bytes += tile < 0 ? 0 : graph.tiles[plan::index(tile)].bytes;
    most = std::max(most, bytes);
  }
  return most;
}

/// @param whole  bytes of the result; 0: not checked, because the tiles on its diagonal are copied in part
template <typename Call>
void expect_sound(const plan::Machine& model, const machine::Machine& machine, const Call& call, const Plan& plan,
                  double whole) {
  const int gpus = machine.gpu_count();
  EXPECT_GT(std::min({plan.tile.m, plan.tile.n, plan.tile.k}), 0);
  EXPECT_LE(plan.gpus, gpus);
  EXPECT_EQ(plan.gpus == 0, gpus == 0);
  EXPECT_LE(plan.grid.size(), std::max(plan.gpus, 1));
  constexpr double most = 20000;  // operations, so that the test is short
  const auto task = call.task(plan);
  if (call.flops() / (2.0 * static_cast<double>(task.m * task.n) * static_cast<double>(task.k)) > most) return;
  Graph graph;
  graph.gpus = gpus;
  call.write(machine, plan, graph);
  ASSERT_FALSE(graph.operations.empty());
  for (const auto& operation : graph.operations) {
    if (graph.core_of(operation) < 0) {
      EXPECT_LT(operation.owner, std::max(plan.gpus, 1));
    } else {
      EXPECT_LT(operation.owner, gpus + static_cast<int>(machine.sharing_cores.size()));
    }
  }
  if (whole > 0) {
    EXPECT_NEAR(written(graph), whole, 1e-9 * whole);
  }
  // Operations on the diagonal may count twice. Panels wider than high, and the formulas of whole calls, are inexact.
  EXPECT_GE(flops_of(graph), 0.75 * call.flops() - call.bytes());
  if (model.memory > 0) {
    EXPECT_LE(largest_task(graph), model.memory);
  }
  plan::Rehearsal rehearsal(model, graph, plan.gpus);
  const double seconds = rehearsal.run().seconds;
  EXPECT_TRUE(std::isfinite(seconds) && seconds > 0) << seconds;
}

template <typename Call>
void expect_all_sound(const plan::Machine& model, const machine::Machine& machine, const Call& call, double whole) {
  const auto all = candidates(model, machine, call);
  EXPECT_FALSE(all.empty());
  EXPECT_LE(all.size(), 200 * static_cast<std::size_t>(std::max(machine.gpu_count(), 1)));
  for (const auto& plan : all) {
    const testing::ScopedTrace trace(__FILE__, __LINE__,
                                     "tile " + std::to_string(plan.tile.m) + "x" + std::to_string(plan.tile.n) + "x" +
                                         std::to_string(plan.tile.k) + ", GPUs " + std::to_string(plan.gpus));
    expect_sound(model, machine, call, plan, whole);
    if (testing::Test::HasFailure()) return;
  }
}

/// Runs a test for all machines and shapes.
template <typename Run>
void for_all(Run run) {
  for (const auto& c : cases) {
    const InventedRates rates(c.cores > 0 ? 4 : 0.04);
    const auto machine = machine_of(c);
    const auto& model = plan::model_of(machine, 'd');
    EXPECT_EQ(model.sharing_cores, c.cores);
    for (const auto& shape : shapes) {
      const testing::ScopedTrace trace(__FILE__, __LINE__,
                                       std::string(c.name) + ": " + std::to_string(shape.m) + ", " +
                                           std::to_string(shape.n) + ", " + std::to_string(shape.k));
      run(model, machine, shape);
      if (testing::Test::HasFailure()) return;
    }
  }
}

double bytes_of(Index m, Index n) { return 8.0 * static_cast<double>(m) * static_cast<double>(n); }

TEST(Candidates, OfProductsAreSound) {
  for_all([](const auto& model, const auto& machine, const Shape& s) {
    for (const Op op_b : {Op::NoTrans, Op::Trans})
      expect_all_sound(model, machine, plan::Sums{'d', SumOf::Product, s.m, s.n, s.k, Op::NoTrans, op_b},
                       bytes_of(s.m, s.n));
  });
}

TEST(Candidates, OfUpdatesAndSymmetricProductsAreSound) {
  for_all([](const auto& model, const auto& machine, const Shape& s) {
    const Index n = std::min<Index>(s.m, 5000);
    for (const auto what : {SumOf::Triangle, SumOf::RankK, SumOf::Rank2k})
      expect_all_sound(model, machine, plan::Sums{'d', what, n, n, s.k}, 0);
    expect_all_sound(model, machine, plan::Sums{'d', SumOf::SymmetricLeft, n, s.n, n}, bytes_of(n, s.n));
    expect_all_sound(model, machine, plan::Sums{'d', SumOf::SymmetricRight, s.n, n, n}, bytes_of(s.n, n));
  });
}

TEST(Candidates, OfTriangularCallsAreSound) {
  for_all([](const auto& model, const auto& machine, const Shape& s) {
    const Index order = std::min<Index>(s.m, 5000);
    for (const Side side : {Side::Left, Side::Right})
      for (const bool inverse : {false, true})
        expect_all_sound(model, machine, plan::Triangular{'d', side, inverse, false, false, order, s.n},
                         bytes_of(order, s.n));
  });
}

TEST(Candidates, OfFactorizationsAreSound) {
  for_all([](const auto& model, const auto& machine, const Shape& s) {
    const Index n = std::min<Index>(s.m, 5000);
    expect_all_sound(model, machine, plan::Cholesky{{{'d', n, n}}}, 0);
    expect_all_sound(model, machine, plan::LuNoPiv{{{'d', s.m, s.n}}}, bytes_of(s.m, s.n));
    if (model.memory > 0 && 2 * bytes_of(s.m, 1) > model.memory) {  // a single column does not fit beside another
      EXPECT_THROW(plan::plan_getrf(machine, 'd', s.m, s.n), RuntimeError);
      EXPECT_THROW(plan::plan_geqrf(machine, 'd', s.m, s.n), RuntimeError);
      return;
    }
    expect_all_sound(model, machine, plan::Lu{{{'d', s.m, s.n}}}, bytes_of(s.m, s.n));
    expect_all_sound(model, machine, plan::Qr{{{'d', s.m, s.n}}}, bytes_of(s.m, s.n));
  });
}

// A result in one panel needs room for all of A on its GPU.
TEST(Candidates, OfNarrowResultsAreInOnePanelIfAllFits) {
  InventedRates rates;
  rates.prefer_long_columns();
  constexpr Index order = 8192, columns = 10;
  const double all = bytes_of(order, order + columns);
  for (const int gpus : {1, 2})
    for (const double memory : {0.0, 2.2 * all, 1.01 * all, 0.99 * all, 0.1 * all}) {
      auto machine = machine_with(11, gpus, Placement::Home);  // no other test has so many workers
      machine.gpu_memory = memory;
      const auto& model = plan::model_of(machine, 'd');
      int panels = 0, tiles = 0;
      for (const auto& plan :
           candidates(model, machine, plan::Triangular{'d', Side::Left, true, true, true, order, columns}))
        (plan.panels.exist() ? panels : tiles)++;
      EXPECT_EQ(panels > 0, memory == 0 || memory > all) << memory;
      EXPECT_GT(tiles, 0) << memory;
    }
}

// Tasks on slim tiles are short, so there should be few.
TEST(Candidates, OfSlimProductsHaveLongTiles) {
  const InventedRates rates;
  const auto machine = machine_with(1, 2, Placement::Home);
  EXPECT_GT(plan::plan_product(machine, 'd', Op::NoTrans, Op::NoTrans, 100, 30000, 100).tile.n, 1024);
  EXPECT_GT(plan::plan_product(machine, 'd', Op::NoTrans, Op::NoTrans, 30000, 100, 100).tile.m, 1024);
}

// Calls without terms or columns are planned as if they had one.
TEST(Candidates, OfEmptyCallsHaveTiles) {
  const InventedRates rates;
  const auto machine = machine_with(1, 1, Placement::Home);
  for (const auto& plan : {plan::plan_product(machine, 'd', Op::NoTrans, Op::NoTrans, 300, 300, 0),
                           plan::plan_product(machine, 'd', Op::NoTrans, Op::NoTrans, 0, 300, 300),
                           plan::plan_triangular(machine, 'd', Side::Left, Op::NoTrans, true, 300, 0),
                           plan::plan_cholesky(machine, 'd', 0), plan::plan_getrf(machine, 'd', 0, 5)}) {
    EXPECT_GT(std::min({plan.tile.m, plan.tile.n, plan.tile.k}), 0);
    EXPECT_TRUE(std::isfinite(plan.seconds) && plan.seconds > 0);
  }
}

/// The time of the plan that a search chooses, relative to the best of all candidates. Each further GPU must save time,
/// see plan::clear_gain.
template <typename Call>
double regret(const plan::Machine& model, const machine::Machine& machine, const Call& call) {
  const auto handicapped = [](double seconds, int gpus) {
    return seconds * std::pow(plan::clear_gain, std::log2(std::max(gpus, 1)));
  };
  plan::Search search(model, machine, call);
  double best = plan::never;
  for (const auto& plan : candidates(model, machine, call)) {
    Graph graph;
    graph.gpus = machine.gpu_count();
    call.write(machine, plan, graph);
    best = std::min(best, handicapped(plan::Rehearsal(model, graph, plan.gpus).run().seconds, plan.gpus));
    search.add(plan);
  }
  const auto chosen = search.best();
  return handicapped(chosen.seconds, chosen.gpus) / best;
}

// Small calls have time for few rehearsals, so the most promising candidates must be rehearsed first.
TEST(Candidates, TheBestAreAmongTheFirstRehearsals) {
  InventedRates rates;
  rates.prefer_long_columns();
  const auto machine = machine_with(2, 4, Placement::Home);
  auto model = plan::model_of(machine, 'd');
  for (auto& row : model.peers) row.assign(4, {200e9, 10e-6, false});
  double product = 1;
  int calls = 0;
  const auto expect_low = [&](const auto& call) {
    const double found = regret(model, machine, call);
    EXPECT_LT(found, 1.15);
    product *= found, calls++;
  };
  for (const Index n : {1000, 1536, 2048, 3000}) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, std::to_string(n));
    for (const bool inverse : {false, true}) expect_low(plan::Triangular{'d', Side::Left, inverse, false, false, n, n});
    for (const auto what : {SumOf::Product, SumOf::SymmetricLeft}) expect_low(plan::Sums{'d', what, n, n, n});
    expect_low(plan::Sums{'d', SumOf::RankK, n, n, n, Op::NoTrans, Op::Trans});
  }
  EXPECT_LT(std::pow(product, 1.0 / calls), 1.022);
}

}  // namespace
}  // namespace tessera::test::candidates_cpp
