// SPDX-License-Identifier: BSD-3-Clause
// Which tile columns of a matrix the cores compute when there are GPUs as well.
#include "algorithms/cores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tessera::test::cores_cpp {
namespace {

/// The owners of all columns on a machine with two GPUs and three cores.
std::vector<int> owners(Index columns, Index for_cores) {
  detail::Machine machine;
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
  EXPECT_EQ(algorithms::CoreColumns(4, 0, detail::Machine{}).of(3), -1);  // without cores
}

}  // namespace
}  // namespace tessera::test::cores_cpp
