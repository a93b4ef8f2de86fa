// SPDX-License-Identifier: BSD-3-Clause
// The positions of the unfinished tasks in the order of submission.
#include "scheduler/ideas/positions.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <set>

namespace tessera::scheduler {
namespace {

TEST(Positions, CountsUnfinishedTasksBeforeAPosition) {
  Positions positions;
  EXPECT_EQ(positions.count_before(1), 0);
  for (int i = 0; i < 3; i++) positions.add();
  EXPECT_EQ(positions.count_before(1), 0);
  EXPECT_EQ(positions.count_before(3), 2);
  EXPECT_EQ(positions.count_before(4), 3);
  positions.remove(2);
  EXPECT_EQ(positions.count_before(3), 1);
  EXPECT_EQ(positions.count_before(4), 2);
}

TEST(Positions, AgreeWithASet) {
  Positions positions;
  std::set<unsigned long> expected;
  std::mt19937 random(1);
  unsigned long added = 0;
  for (int step = 0; step < 20000; step++) {
    if (expected.empty() || random() % 100 < (step < 10000 ? 60U : 40U)) {
      positions.add();
      expected.insert(++added);
    } else {
      const auto removed =
          std::next(expected.begin(), static_cast<std::ptrdiff_t>(random() % (1 + expected.size() / 4)));
      positions.remove(*removed);
      expected.erase(removed);
    }
    const auto position = random() % (added + 2);
    ASSERT_EQ(positions.count_before(position), std::distance(expected.begin(), expected.lower_bound(position)));
  }
}

}  // namespace
}  // namespace tessera::scheduler
