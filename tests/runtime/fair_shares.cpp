// SPDX-License-Identifier: BSD-3-Clause
// Priorities of calls that run at the same time.
#include "runtime/fair_shares.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace tessera::test::fair_shares_cpp {
namespace {

using runtime::FairShares;
using Share = FairShares::Share;

constexpr double unit = 1e9;

/// A call whose tasks can all run at once.
struct Backlog {
  std::unique_ptr<Share> share;
  std::vector<int> waiting;  ///< priorities, the most urgent one first
  double flops;

  Backlog(FairShares& all, int tasks, double flops_of_task)
      : share(std::make_unique<Share>(all)), flops(flops_of_task) {
    for (int i = 0; i < tasks; i++) waiting.push_back(share->next(flops));
  }
  double run_one() {
    share->has_run(waiting.front());
    waiting.erase(waiting.begin());
    return flops;
  }
};

TEST(FairShares, ACallAloneHasItsTasksInOrderFromZero) {
  FairShares all;
  for (int call = 0; call < 2; call++) {
    Share share(all);
    EXPECT_EQ(share.next(5 * unit), 0);
    EXPECT_EQ(share.next(0), -5) << "after the time of the first";
    EXPECT_EQ(share.next(0), -6) << "each takes some time";
    share.has_run(-6);
    EXPECT_EQ(all.first(), -6);
  }
  EXPECT_EQ(all.first(), 0);
}

TEST(FairShares, PartsOfMemoryFitTogether) {
  FairShares all;
  double filled = 0;
  std::vector<std::unique_ptr<Share>> running;
  for (int call = 0; call < 10; call++) {
    running.push_back(std::make_unique<Share>(all));
    filled += all.part_of_memory();
  }
  EXPECT_LE(filled, 1);
  running.clear();
  const Share alone(all);
  EXPECT_EQ(all.part_of_memory(), 0.5);
}

TEST(FairShares, ANewCallStartsAtTheTimeOfRunningCalls) {
  FairShares all;
  Backlog old(all, 100, unit);
  for (int i = 0; i < 41; i++) old.run_one();
  EXPECT_EQ(all.first(), -40);
  const Backlog fresh(all, 1, unit);
  EXPECT_EQ(fresh.waiting.front(), -40);
  EXPECT_EQ(old.waiting.front(), -41);
}

/// The most urgent task runs next. A long call and an endless sequence of short ones, with smaller tasks, get equal
/// shares of the flops.
TEST(FairShares, ALongCallGetsHalfDespiteEndlessShortCalls) {
  FairShares all;
  Backlog longer(all, 100, 16 * unit);
  double others = 0, own = 0;
  while (!longer.waiting.empty()) {
    Backlog shorter(all, 40, 2 * unit);
    while (!shorter.waiting.empty() && !longer.waiting.empty())
      if (shorter.waiting.front() > longer.waiting.front()) others += shorter.run_one();
      else own += longer.run_one();
  }
  EXPECT_EQ(own, 1600 * unit);
  EXPECT_LE(others, 1.1 * own);
  EXPECT_GE(others, 0.5 * own);
}

TEST(FairShares, AShortCallDoesNotWaitForALongOne) {
  FairShares all;
  Backlog longer(all, 1000, 100 * unit);
  for (int i = 0; i < 500; i++) longer.run_one();
  const Backlog shorter(all, 16, unit);
  EXPECT_GT(shorter.waiting.back(), longer.waiting.front()) << "all of it comes first";
}

TEST(FairShares, ManyCallsDoNotExhaustThePriorities) {
  FairShares all;
  auto running = std::make_unique<Share>(all);
  for (int i = 0; i < 10; i++) {
    auto next = std::make_unique<Share>(all);
    const int first = next->next(4e8 * unit), second = next->next(0);
    EXPECT_GT(first, second) << i;
    next->has_run(second);
    running = std::move(next);
  }
}

}  // namespace
}  // namespace tessera::test::fair_shares_cpp
