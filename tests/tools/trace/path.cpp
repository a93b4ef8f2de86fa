// SPDX-License-Identifier: BSD-3-Clause
// The critical path of a run, and its lower bounds.
#include <gmock/gmock.h>

#include "shares.hpp"
#include "small_run.hpp"
#include "trace/analysis/analysis.hpp"

namespace tessera::trace::path_cpp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int gpu_0 = 0, gpu_1 = 1, host = 0, node_0 = 1, node_1 = 2;

void expect_path(const Run& run, const std::vector<int>& tasks, const Shares& parts) {
  const auto path = analyse(run).path;
  EXPECT_EQ(path.tasks, tasks);
  EXPECT_EQ(path.parts, parts);
}

TEST(Path, OverTheSameWorker) {
  SmallRun small(2);
  const int first = small.task(gpu_0, 0, 3), second = small.task(gpu_0, 4, 8);
  small.task(gpu_1, 0, 7);
  expect_path(small.run, {first, second}, shares(7, 0, 1, 0));
}

TEST(Path, OverADependency) {
  SmallRun small(2);
  const int first = small.task(gpu_1, 0, 5);
  small.task(gpu_0, 0, 3);
  const int second = small.task(gpu_0, 6, 8, {}, {first});
  expect_path(small.run, {first, second}, shares(7, 0, 1, 0));
}

TEST(Path, OverTheTileOfAnotherGpu) {
  SmallRun small(2);
  const int c = small.tile('C', 0, 0);
  const int first = small.task(gpu_1, 0, 3, {small.write(c)});
  small.task(gpu_0, 0, 2);
  small.transfer(c, node_1, node_0, 3, 5);
  const int second = small.task(gpu_0, 5, 8, {small.update(c)}, {first});
  const auto path = analyse(small.run).path;
  EXPECT_THAT(path.tasks, ElementsAre(first, second));
  EXPECT_EQ(path.parts, shares(6, 2, 0, 0));
  EXPECT_THAT(path.text, HasSubstr("75 % of the time to the end was computing on 2 GPUs, "
                                   "25 % waiting for tiles over GPU 1 → GPU 0"));
}

TEST(Path, OverABusyLink) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0), b = small.tile('B', 0, 0), c = small.tile('C', 0, 0);
  small.transfer(a, host, node_0, 1, 3, Transfer::Reason::Prefetch);
  small.transfer(b, host, node_0, 3, 5, Transfer::Reason::Prefetch);
  const int task = small.submitted_at(1, small.task(gpu_0, 6, 8, {small.read(a), small.read(b), small.write(c)}));
  expect_path(small.run, {task}, shares(2, 4, 1, 1));
}

TEST(Path, AFetchWaitedForTheWorker) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0);
  const int first = small.task(gpu_0, 0, 4);
  small.transfer(a, host, node_0, 5, 7);
  const int second = small.task(gpu_0, 7, 8, {small.read(a)});
  expect_path(small.run, {first, second}, shares(5, 2, 1, 0));
}

TEST(Path, APrefetchWaitedForItsTurn) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0);
  const int first = small.task(gpu_0, 0, 4);
  small.task(gpu_0, 4, 5);
  small.transfer(a, host, node_0, 3, 6, Transfer::Reason::Prefetch);  // requested while the first task was running
  const int third = small.task(gpu_0, 6, 8, {small.read(a)});
  expect_path(small.run, {first, third}, shares(5, 3, 0, 0));
}

TEST(Path, ATileThatCameOverTheHost) {
  SmallRun small(2);
  const int c = small.tile('C', 0, 0);
  const int first = small.task(gpu_0, 0, 1, {small.write(c)});
  small.transfer(c, node_0, host, 1, 3);
  small.transfer(c, host, node_1, 3, 6);
  const int second = small.task(gpu_1, 6, 8, {small.read(c)}, {first});
  const auto path = analyse(small.run).path;
  EXPECT_THAT(path.tasks, ElementsAre(first, second));
  EXPECT_EQ(path.parts, shares(3, 5, 0, 0));
  EXPECT_THAT(
      path.text,
      HasSubstr("38 % of the time to the end was computing on 2 GPUs, 38 % waiting for tiles over host → GPU 1, 25 % "
                "waiting for results on their way to the host over GPU 0 → host"));
}

TEST(Path, TheResultsWayHome) {
  SmallRun small(1);
  const int c = small.tile('C', 0, 0), a = small.tile('A', 0, 0);
  const int task = small.task(gpu_0, 0, 4, {small.write(c)});
  small.transfer(c, node_0, host, 4, 7);
  small.transfer(a, host, node_0, 6, 8);  // without a purpose: not a result, and not needed by a task
  expect_path(small.run, {task}, shares(4, 3, 1, 0));
}

TEST(Path, ResultsFetchedOneByOne) {
  SmallRun small(2);
  const int p = small.tile('P', 0, 0), c = small.tile('C', 0, 0);
  const int first = small.task(gpu_0, 0, 1, {small.write(p)});
  const int second = small.task(gpu_1, 1, 5, {small.write(c)}, {first});
  small.transfer(c, node_1, host, 5, 7);
  small.transfer(p, node_0, host, 8, 9);  // present since 1
  expect_path(small.run, {first, second}, shares(5, 3, 1, 0));
}

TEST(Path, SaysHowFarTheRunIsFromItsLargestBound) {
  SmallRun small(2);
  const int first = small.task(gpu_0, 0, 6);
  small.task(gpu_1, 6, 8, {}, {first});
  EXPECT_THAT(analyse(small.run).path.text, HasSubstr("the longest chain of tasks, is 8.00 s, 100 % of that time."));
  small.run.tasks[1].after.clear();
  EXPECT_THAT(analyse(small.run).path.text, HasSubstr("is 6.00 s, 75 % of that time."));
}

TEST(Path, Submission) {
  SmallRun small(2);
  small.task(gpu_1, 0, 7);
  const int task = small.submitted_at(5, small.task(gpu_0, 5, 8));
  const auto path = analyse(small.run).path;
  EXPECT_THAT(path.tasks, ElementsAre(task));
  EXPECT_EQ(path.parts, shares(3, 0, 0, 5));
  EXPECT_THAT(path.text, HasSubstr("62 % of the time to the end was waiting for the program to submit"));
}

TEST(Path, SubmissionAfterAWaitForResults) {
  SmallRun small(1);
  const int c = small.tile('C', 0, 0);
  const int first = small.task(gpu_0, 0, 2, {small.write(c)});
  small.transfer(c, node_0, host, 2, 5);
  const int second = small.submitted_at(6, small.task(gpu_0, 6, 8));
  expect_path(small.run, {first, second}, shares(4, 3, 0, 1));
}

TEST(Path, SubmissionAfterAWaitForAllTasks) {
  SmallRun small(2);
  const int first = small.task(gpu_0, 0, 4);
  const int second = small.submitted_at(5, small.task(gpu_1, 5, 8));
  expect_path(small.run, {first, second}, shares(7, 0, 0, 1));
}

TEST(Path, TasksWithoutDurationAndTies) {
  SmallRun small(1);
  const int c = small.tile('C', 0, 0);
  int last = small.task(gpu_0, 0, 0, {small.write(c)});
  for (int i = 0; i < 40; ++i) last = small.task(gpu_0, 0, 0, {small.update(c)}, {last});
  small.task(gpu_0, 0, 8, {small.update(c)}, {last});
  const auto path = analyse(small.run).path;
  EXPECT_EQ(path.parts, shares(8, 0, 0, 0));
  EXPECT_EQ(path.longest_chain, 8);
}

TEST(Path, ADependencyOnOneself) {
  SmallRun small(1);
  small.task(gpu_0, 0, 4);
  small.run.tasks[0].after = {0};
  const auto path = analyse(small.run).path;
  EXPECT_EQ(path.parts, shares(4, 0, 0, 0));
  EXPECT_EQ(path.longest_chain, 4);
}

TEST(Path, LongestChainIsNotThePath) {
  SmallRun small(2);
  const int a = small.task(gpu_0, 0, 2), b = small.task(gpu_1, 0, 1);
  const int c = small.task(gpu_0, 2, 3, {}, {a, b});
  small.task(gpu_1, 4, 6, {}, {c});
  small.task(gpu_0, 3, 8);
  EXPECT_EQ(analyse(small.run).path.longest_chain, 5);
}

TEST(Bounds, LongestFirst) {
  SmallRun small(2, 1);
  const int a = small.tile('A', 0, 0), b = small.tile('B', 0, 0);
  small.run.counted.links = {{host, node_0, 0, 50e6}};
  small.transfer(a, host, node_0, 0, 4);
  small.transfer(a, host, node_1, 0, 1);  // 100 MB/s
  small.transfer(b, host, node_1, 2, 4);  // 50 MB/s
  small.task(gpu_0, 4, 8);
  small.task(gpu_1, 4, 5);
  const auto bounds = analyse(small.run).bounds;
  ASSERT_EQ(bounds.size(), 4);
  EXPECT_EQ(bounds[0].name, "the longest chain of tasks");
  EXPECT_EQ(bounds[0].seconds, 4);
  EXPECT_EQ(bounds[1].name, "computing on the GPUs");
  EXPECT_EQ(bounds[1].seconds, 2.5);
  EXPECT_EQ(bounds[2].name, "host → GPU 0");
  EXPECT_EQ(bounds[2].seconds, 2) << "the rate of StarPU's model, not the observed one";
  EXPECT_EQ(bounds[3].name, "host → GPU 1");
  EXPECT_EQ(bounds[3].seconds, 2) << "the highest observed rate";
}

TEST(Bounds, OverlappingTransfersShareTheLink) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0), b = small.tile('B', 0, 0), c = small.tile('C', 0, 0);
  for (const int tile : {a, b, c}) small.transfer(tile, host, node_0, 0, 6);
  const auto analysis = analyse(small.run);
  ASSERT_EQ(analysis.bounds.size(), 1);
  EXPECT_EQ(analysis.bounds[0].seconds, 6) << "300 MB in 6 s, although no single transfer exceeded 17 MB/s";
  EXPECT_EQ(analysis.links[0].busy, 6);
}

TEST(Bounds, NotMoreThanTheLinkWasBusy) {
  SmallRun small(1);
  small.run.counted.links = {{host, node_0, 0, 1e6}};
  small.transfer(small.tile('A', 0, 0), host, node_0, 0, 2);
  small.run.span = 8;
  EXPECT_EQ(analyse(small.run).bounds[0].seconds, 2);
}

}  // namespace
}  // namespace tessera::trace::path_cpp
