// SPDX-License-Identifier: BSD-3-Clause
// The shares of the workers' time, and the choice of the listed gaps.
#include <gmock/gmock.h>

#include "shares.hpp"
#include "small_run.hpp"

namespace tessera::trace::shares_cpp {
namespace {

using testing::ElementsAre;

constexpr int gpu_0 = 0, host = 0, node_0 = 1;

TEST(Shares, OverlappingTasksCountOnce) {
  SmallRun small(1);
  small.task(gpu_0, 0, 4);
  small.task(gpu_0, 2, 3);  // within the previous task
  small.task(gpu_0, 3, 8);
  EXPECT_THAT(analyse(small.run).workers, ElementsAre(shares(8, 0, 0, 0)));
}

TEST(Shares, OnCpus) {
  SmallRun small(0, 3);
  const int first = small.task(0, 0, 4);
  small.task(1, 4, 8, {}, {first});
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.workers, ElementsAre(shares(4, 0, 0, 4), shares(4, 0, 0, 4), shares(0, 0, 0, 8)));
  ASSERT_EQ(analysis.worst_gaps.size(), 3);
  EXPECT_EQ(analysis.worst_gaps[0].text, "CPU 2 ran no task");
  EXPECT_TRUE(analysis.links.empty());
  EXPECT_EQ(analysis.hits.own + analysis.hits.peer + analysis.hits.host, 0);
}

TEST(Shares, CoresThatHelpALittleAreLeftOut) {
  SmallRun small(1, 2);
  small.task(gpu_0, 0, 16);
  small.task(1, 0, 1);
  EXPECT_TRUE(analyse(small.run).worst_gaps.empty());
  small.task(1, 1, 8);  // the cores now do a third of the work
  EXPECT_EQ(analyse(small.run).worst_gaps.size(), 2);
}

TEST(Shares, TenAtMost) {
  SmallRun small(1);
  for (int i = 1; i <= 12; ++i) small.task(gpu_0, 64 * i - i, 64 * i);  // gaps of 63, 62, … 52
  const auto analysis = analyse(small.run);
  ASSERT_EQ(analysis.worst_gaps.size(), 10);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(analysis.worst_gaps[i].end - analysis.worst_gaps[i].begin, 63 - i);
}

TEST(Shares, ATaskThatNeverStarted) {
  SmallRun small(1);
  const int first = small.task(gpu_0, 0, 4);
  const int second = small.task(gpu_0, 4, 4, {}, {first});
  auto& task = small.run.tasks[second];
  task.worker = none, task.start = task.end = never;
  small.run.span = 8;
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.workers, ElementsAre(shares(4, 0, 0, 4)));
  EXPECT_EQ(analysis.tasks_of_worker[0], 1);
  EXPECT_THAT(analysis.ready.count, ElementsAre(0, 1));
  EXPECT_EQ(analysis.flops, 4e9);
}

TEST(Shares, ATaskThatHadNotEnded) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0);
  small.task(gpu_0, 0, 4);
  small.run.tasks[small.task(gpu_0, 6, 7)].end = never;
  small.transfer(a, host, node_0, 7, 8);
  small.run.transfers[0].end = never;
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.workers, ElementsAre(shares(6, 0, 2, 0)));
  EXPECT_EQ(analysis.links[0].busy, 1);
  EXPECT_EQ(analysis.hits.host, 0);
}

TEST(Shares, NoTasks) {
  SmallRun small(1);
  const auto nothing = analyse(small.run);
  EXPECT_THAT(nothing.workers, ElementsAre(shares(0, 0, 0, 0)));
  EXPECT_TRUE(nothing.worst_gaps.empty());
  small.run.span = 2;
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.workers, ElementsAre(shares(0, 0, 0, 2)));
  EXPECT_EQ(analysis.path.text, "No task has run.");
  EXPECT_TRUE(analysis.bounds.empty());
  EXPECT_TRUE(analyse(trace::Run{}).workers.empty());
}

}  // namespace
}  // namespace tessera::trace::shares_cpp
