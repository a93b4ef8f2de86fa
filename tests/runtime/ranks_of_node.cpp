// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/ranks_of_node.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace tessera::runtime {

namespace {

LaunchedRank launched(int rank, std::initializer_list<int> cores, const char* gpus = "") {
  LaunchedRank made{rank, 1000 + rank, {}, gpus};
  CPU_ZERO(&made.cores);
  for (const int core : cores) CPU_SET(core, &made.cores);
  return made;
}

/// part/parts
std::string text(const NodePart& part) { return std::to_string(part.part) + "/" + std::to_string(part.parts); }

TEST(RanksOfNode, ShareTheCoresOnWhichAllMayRun) {
  const auto shared = shared_with(launched(1, {0, 1, 2, 3}), {launched(0, {0, 1, 2, 3}), launched(2, {0, 1, 2, 3})});
  EXPECT_EQ(text(shared.cores), "1/3");
  EXPECT_EQ(text(shared.gpus), "1/3");
}

TEST(RanksOfNode, KeepTheCoresThatTheyAreBoundTo) {
  const auto shared = shared_with(launched(1, {2, 3}), {launched(0, {0, 1})});
  EXPECT_EQ(text(shared.cores), "0/1");
  EXPECT_EQ(text(shared.gpus), "1/2");  // nothing has assigned the GPUs to ranks
}

TEST(RanksOfNode, ShareASocketWithTheOthersThere) {
  const auto shared = shared_with(launched(3, {4, 5, 6, 7}),
                                  {launched(0, {0, 1, 2, 3}), launched(1, {4, 5, 6, 7}), launched(2, {0, 1, 2, 3})});
  EXPECT_EQ(text(shared.cores), "1/2");
  EXPECT_EQ(text(shared.gpus), "3/4");
}

TEST(RanksOfNode, KeepTheGpusThatEachWasGiven) {
  const auto shared = shared_with(launched(1, {0, 1}, "1"), {launched(0, {0, 1}, "0")});
  EXPECT_EQ(text(shared.cores), "1/2");
  EXPECT_EQ(text(shared.gpus), "0/1");
}

}  // namespace

}  // namespace tessera::runtime
