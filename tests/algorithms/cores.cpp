// SPDX-License-Identifier: BSD-3-Clause
// Which parts of a result the cores compute when there are GPUs as well, and which columns GPUs of unlike speed own.
#include "algorithms/cores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "algorithms/sweep.hpp"
#include "plan/graph.hpp"

namespace tessera::test::cores_cpp {
namespace {

/// The owners of all columns on a machine with two GPUs and three cores.
std::vector<int> owners(Index columns, Index for_cores) {
  machine::Machine machine;
  machine.gpus = {0, 1}, machine.sharing_cores = {10, 11, 12};
  const algorithms::CoreColumns cores(columns, for_cores, machine);
  EXPECT_EQ(cores.first(), columns - for_cores);
  std::vector<int> all;
  for (Index j = 0; j < columns; j++) all.push_back(cores.of(j));
  return all;
}

TEST(CoreColumns, AreTheLastAndDealtOut) {
  using ::testing::ElementsAre;
  EXPECT_THAT(owners(5, 3), ElementsAre(-1, -1, 2, 3, 4));
  EXPECT_THAT(owners(7, 6), ElementsAre(-1, 2, 3, 4, 2, 3, 4));
}

TEST(CoreColumns, MayBeNone) {
  using ::testing::Each;
  EXPECT_THAT(owners(4, 0), Each(-1));
  EXPECT_EQ(algorithms::CoreColumns(4, 0, machine::Machine{}).of(3), -1);  // without cores
}

TEST(CoreTiles, AreTheLastAndGoToTheCoreWithTheLeastWork) {
  machine::Machine machine;
  machine.gpus = {0}, machine.sharing_cores = {10, 11};
  std::vector<algorithms::Step> order;
  for (Index j = 0; j < 5; j++) order.push_back({0, j, 0, 0, false});
  const algorithms::CoreTiles cores(order, 1, 4, machine, [](Index, Index j) { return j == 4 ? 3 : 1; });
  std::vector<int> owners;
  for (const auto& step : order) owners.push_back(cores.of(step));
  EXPECT_THAT(owners, ::testing::ElementsAre(-1, 2, 2, 2, 1));
}

TEST(Sweep, GivesFastGpusMoreColumns) {
  machine::Machine machine;
  machine.gpus = {0, 1, 2}, machine.placement = Placement::Home;
  algorithms::Plan plan;
  plan.grid = {1, 3}, plan.speeds = {4, 1, 4};
  plan::Graph graph;
  const plan::Outline A(graph, 20, 20, 10, 10, 'd'), B(graph, 20, 90, 10, 10, 'd');
  const algorithms::Sweep X(machine, plan, Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, A, B);
  std::vector<int> columns(3);
  for (Index j = 0; j < 9; j++) {
    columns[static_cast<std::size_t>(X(0, j).owner)]++;
    EXPECT_EQ(X(0, j).owner, X(1, j).owner);
  }
  EXPECT_THAT(columns, ::testing::ElementsAre(4, 1, 4));
}

}  // namespace
}  // namespace tessera::test::cores_cpp
