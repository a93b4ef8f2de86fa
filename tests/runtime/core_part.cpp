// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core_part.hpp"

#include <gtest/gtest.h>

namespace tessera::runtime {

namespace {

/// Two sockets with two cores of two threads each. As on many machines, the second threads of all cores are numbered
/// after the first ones, and sockets alternate.
const std::vector<Processor> machine = {{0, 0, 0}, {1, 1, 1}, {0, 2, 2}, {1, 3, 3},
                                        {0, 0, 4}, {1, 1, 5}, {0, 2, 6}, {1, 3, 7}};

std::vector<int> numbers(const std::vector<Processor>& processors) {
  std::vector<int> all;
  for (const auto& processor : processors) all.push_back(processor.number);
  return all;
}

TEST(PartOfCores, HasAllThreadsOfItsCores) {
  EXPECT_EQ(numbers(part_of(machine, 0, 4)), (std::vector{0, 4}));
  EXPECT_EQ(numbers(part_of(machine, 3, 4)), (std::vector{3, 7}));
  EXPECT_EQ(cores_of(part_of(machine, 3, 4)), 1);
}

TEST(PartOfCores, IsASocketWhereThereAreAsManyAsParts) {
  EXPECT_EQ(numbers(part_of(machine, 0, 2)), (std::vector{0, 2, 4, 6}));
  EXPECT_EQ(numbers(part_of(machine, 1, 2)), (std::vector{1, 3, 5, 7}));
}

TEST(PartOfCores, IsNeverEmpty) {
  for (int part = 0; part < 7; part++) EXPECT_EQ(cores_of(part_of(machine, part, 7)), 1) << part;
}

TEST(PartOfCores, TogetherAreAllCores) {
  int cores = 0;
  for (int part = 0; part < 3; part++) cores += cores_of(part_of(machine, part, 3));
  EXPECT_EQ(cores, 4);
}

}  // namespace

}  // namespace tessera::runtime
