// SPDX-License-Identifier: BSD-3-Clause
// Gaps and their causes in runs with known gaps.
#include <gmock/gmock.h>

#include "shares.hpp"
#include "small_run.hpp"

namespace tessera::trace::gaps_cpp {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int gpu_0 = 0, gpu_1 = 1, host = 0, node_0 = 1, node_1 = 2;

const Gap& gap_before(const Analysis& analysis, int task) {
  for (const auto& gap : analysis.worst_gaps)
    if (gap.next == task) return gap;
  throw std::out_of_range("no gap before task " + std::to_string(task));
}

TEST(Gaps, AllPartsOfAGap) {
  SmallRun small(1);
  const int a = small.tile('A', 3, 7), c = small.tile('C', 3, 5);
  small.task(gpu_0, 0, 2, {small.write(c)});
  const int second = small.submitted_at(3, small.task(gpu_0, 8, 16, {small.read(a), small.update(c)}));
  small.transfer(a, host, node_0, 4, 7);
  const auto analysis = analyse(small.run);
  // 2–3: not submitted. 3–7: waiting for A, including the time before the transfer started. 7–8: overhead.
  EXPECT_THAT(analysis.workers, ElementsAre(shares(10, 4, 1, 1)));
  ASSERT_EQ(analysis.worst_gaps.size(), 1);
  const auto& gap = gap_before(analysis, second);
  EXPECT_EQ(gap.parts, shares(0, 4, 1, 1));
  EXPECT_EQ(gap.begin, 2);
  EXPECT_EQ(gap.end, 8);
  EXPECT_EQ(gap.cause, Gap::Cause::Data);
  EXPECT_EQ(gap.waited_transfer, 0);
  EXPECT_EQ(gap.waited_task, none);
  EXPECT_EQ(gap.text,
            "GPU 0 waited 4.00 s for A(3,7) from the host (100 MB at 33 MB/s; meanwhile the link was idle for 1.00 s), "
            "wanted by gemm C(3,5)");
  EXPECT_EQ(analysis.tasks_of_worker, std::vector<std::size_t>{2});
}

TEST(Gaps, Dependency) {
  SmallRun small(2);
  const int b = small.tile('B', 4, 2);
  const int first = small.task(gpu_1, 0, 4, {small.write(b)});
  small.task(gpu_0, 0, 1);
  const int second = small.task(gpu_0, 5, 6, {}, {first});
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.workers, ElementsAre(shares(2, 0, 1, 3), shares(4, 0, 0, 2)));
  const auto& gap = gap_before(analysis, second);
  EXPECT_EQ(gap.cause, Gap::Cause::Dependency);
  EXPECT_EQ(gap.waited_task, first);
  EXPECT_EQ(gap.text, "GPU 0 was idle 3.00 s: gemm 102 depends on gemm B(4,2) on GPU 1");
}

TEST(Gaps, TheLastOfSeveralDependenciesIsTheCause) {
  SmallRun small(2);
  const int early = small.task(gpu_0, 0, 2), late = small.task(gpu_1, 0, 6);
  const int next = small.task(gpu_0, 6, 8, {}, {late, early});
  const auto analysis = analyse(small.run);
  EXPECT_EQ(gap_before(analysis, next).waited_task, late);
  EXPECT_EQ(gap_before(analysis, next).cause, Gap::Cause::Dependency);
}

TEST(Gaps, IgnoresDependenciesThatEndedBeforeTheSubmission) {
  SmallRun small(1);
  const int first = small.task(gpu_0, 0, 2);
  const int second = small.submitted_at(6, small.task(gpu_0, 6, 8, {}, {first}));
  const auto analysis = analyse(small.run);
  const auto& gap = gap_before(analysis, second);
  EXPECT_EQ(gap.cause, Gap::Cause::Submission);
  EXPECT_EQ(gap.waited_task, none);
  EXPECT_EQ(gap.text, "GPU 0 was idle 4.00 s: the program had not submitted gemm 101");
}

TEST(Gaps, TheProgramWaitedForResults) {
  SmallRun small(1);
  const int c = small.tile('C', 0, 0);
  small.task(gpu_0, 0, 2, {small.write(c)});
  small.transfer(c, node_0, host, 2, 5);
  small.submitted_at(6, small.task(gpu_0, 6, 8));
  EXPECT_THAT(analyse(small.run).worst_gaps[0].text,
              HasSubstr("had not submitted gemm 101; results were copied to the host during 3.00 s of that"));
}

TEST(Gaps, ReadyTasksThatTheWorkerDidNotGet) {
  SmallRun small(2);
  const int first = small.task(gpu_0, 0, 4);
  const int second = small.task(gpu_1, 4, 6, {}, {first});
  small.task(gpu_0, 5, 6), small.task(gpu_0, 6, 8);
  EXPECT_THAT(gap_before(analyse(small.run), second).text,
              HasSubstr("depends on gemm 100 on GPU 0; meanwhile 2 tasks or more were ready but not given to it"));
}

TEST(Gaps, MemoryHadToBeFreed) {
  SmallRun small(1);
  const int c = small.tile('C', 4, 4);
  small.task(gpu_0, 0, 2, {small.write(c)});
  small.transfer(c, node_0, host, 3, 5, Transfer::Reason::WriteBack);
  const int next = small.task(gpu_0, 6, 8);
  const auto analysis = analyse(small.run);
  EXPECT_EQ(gap_before(analysis, next).text,
            "GPU 0 lost 4.00 s to the runtime before gemm 101, which was ready with all its tiles present; C(4,4) was "
            "written back to free memory");
}

// Two tasks that add to a tile in either order (STARPU_COMMUTE) do not depend on each other, but exclude each other.
TEST(Gaps, CommutingTasksExcludeEachOther) {
  SmallRun small(2);
  const int c = small.tile('C', 3, 5);
  const int first = small.task(gpu_0, 0, 1, {small.write(c)});
  const int one = small.task(gpu_0, 1, 4, {small.update(c)}, {first});
  const int other = small.task(gpu_1, 4.5, 6, {small.update(c)}, {first});
  small.run.tasks[other].ready = 4;
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.workers, ElementsAre(shares(4, 0, 0, 2), shares(1.5, 0, 0.5, 4)));
  const auto& gap = gap_before(analysis, other);
  EXPECT_EQ(gap.cause, Gap::Cause::Dependency);
  EXPECT_EQ(gap.waited_task, one);
  EXPECT_EQ(gap.text, "GPU 1 was idle 4.00 s: gemm C(3,5) needs a tile that was in use by gemm C(3,5) on GPU 0");
  EXPECT_EQ(analysis.path.tasks, (std::vector<int>{first, one, other}));
}

TEST(Gaps, ReadersOfATileDoNotExcludeOthers) {
  SmallRun small(2);
  const int a = small.tile('A', 0, 0);
  const int first = small.task(gpu_0, 0, 1, {small.write(a)});
  small.task(gpu_0, 1, 4, {small.read(a)}, {first});
  const int other = small.task(gpu_1, 5, 6, {small.read(a)}, {first});
  small.run.tasks[other].ready = 4;
  const auto analysis = analyse(small.run);
  EXPECT_EQ(gap_before(analysis, other).cause, Gap::Cause::Overhead);
}

TEST(Gaps, TimeFromTheEndOfADependencyToReadyIsOverhead) {
  SmallRun small(1);
  const int first = small.task(gpu_0, 0, 2);
  const int second = small.task(gpu_0, 6, 8, {}, {first});
  small.run.tasks[second].ready = 5;
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.workers, ElementsAre(shares(4, 0, 4, 0)));
  EXPECT_EQ(gap_before(analysis, second).cause, Gap::Cause::Overhead);
}

TEST(Gaps, NotReadyForAnUnknownReason) {
  SmallRun small(1);
  small.task(gpu_0, 0, 2);
  const int second = small.task(gpu_0, 5, 8);
  small.run.tasks[second].ready = 5;
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.workers, ElementsAre(shares(5, 0, 0, 3)));
  EXPECT_EQ(gap_before(analysis, second).cause, Gap::Cause::Submission);
  EXPECT_EQ(
      gap_before(analysis, second).text,
      "GPU 0 was idle 3.00 s: gemm 101 had been submitted but was not ready for a reason that is not in the trace");
}

TEST(Gaps, ATransferSlowerThanItsLink) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0);
  small.run.counted.links = {{host, node_0, 0, 50e6}};
  small.transfer(a, host, node_0, 0, 4);
  const int task = small.task(gpu_0, 4, 8, {small.read(a)});
  EXPECT_EQ(gap_before(analyse(small.run), task).text,
            "GPU 0 waited 4.00 s for A(0,0) from the host (100 MB at 25 MB/s on a link with 50 MB/s), wanted by "
            "gemm 100");
}

TEST(Gaps, Overhead) {
  SmallRun small(1);
  small.task(gpu_0, 0, 2);
  const int second = small.task(gpu_0, 5, 8);
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.workers, ElementsAre(shares(5, 0, 3, 0)));
  EXPECT_EQ(gap_before(analysis, second).cause, Gap::Cause::Overhead);
}

TEST(Gaps, BeforeTheFirstTaskAndAfterTheLast) {
  SmallRun small(2);
  small.submitted_at(1, small.task(gpu_0, 1, 8));
  small.submitted_at(1, small.task(gpu_1, 1, 3));
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.workers, ElementsAre(shares(7, 0, 0, 1), shares(2, 0, 0, 6)));
  ASSERT_EQ(analysis.worst_gaps.size(), 3);
  const auto& tail = analysis.worst_gaps[0];
  EXPECT_EQ(tail.worker, gpu_1);
  EXPECT_EQ(tail.begin, 3);
  EXPECT_EQ(tail.end, 8);
  EXPECT_EQ(tail.cause, Gap::Cause::NothingLeft);
  EXPECT_EQ(tail.next, none);
  EXPECT_THAT(tail.text, HasSubstr("nothing left to do for the last 5.00 s; other workers computed during 5.00 s"));
  EXPECT_EQ(analysis.worst_gaps[1].worker, gpu_0) << "ties are ordered by time, then by worker";
  EXPECT_EQ(analysis.worst_gaps[2].worker, gpu_1);
}

TEST(Gaps, ResultsAreCopiedToTheHost) {
  SmallRun small(2);
  const int c = small.tile('C', 0, 0);
  small.task(gpu_0, 0, 4, {small.write(c)});
  small.task(gpu_1, 0, 4);
  small.transfer(c, node_0, host, 4, 8);
  const auto analysis = analyse(small.run);
  ASSERT_EQ(analysis.worst_gaps.size(), 2);
  EXPECT_EQ(analysis.worst_gaps[0].cause, Gap::Cause::Data);
  EXPECT_EQ(analysis.worst_gaps[0].waited_transfer, 0);
  EXPECT_THAT(analysis.worst_gaps[0].text,
              HasSubstr("copied to the host during 4.00 s of that (100 MB over GPU 0 → host)"));
  EXPECT_EQ(analysis.worst_gaps[1].cause, Gap::Cause::NothingLeft) << "the results are from another GPU";
  EXPECT_THAT(analysis.workers, ElementsAre(shares(4, 0, 0, 4), shares(4, 0, 0, 4)));
}

TEST(Gaps, APrefetchThatCameInTimeCostsNothing) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0);
  small.task(gpu_0, 0, 4);
  small.transfer(a, host, node_0, 0, 3, Transfer::Reason::Prefetch);
  small.task(gpu_0, 5, 8, {small.read(a)});
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.workers, ElementsAre(shares(7, 0, 1, 0)));
}

TEST(Gaps, OnlyTilesThatTheTaskReadsOnItsNodeCount) {
  SmallRun small(2);
  const int a = small.tile('A', 0, 0), other = small.tile('A', 9, 9), c = small.tile('C', 0, 0);
  auto workspace = small.update(other);
  workspace.scratch = true;
  small.task(gpu_0, 0, 2);
  small.transfer(a, host, node_1, 2, 6);      // to another GPU
  small.transfer(other, host, node_0, 2, 6);  // a workspace of this task
  small.transfer(c, host, node_0, 2, 6);      // the task only writes it
  small.task(gpu_0, 6, 8, {small.read(a), small.write(c), workspace});
  const auto analysis = analyse(small.run);
  EXPECT_EQ(analysis.workers[0], shares(4, 0, 4, 0));
}

TEST(Gaps, ATransferThatEndsLaterWasForAnotherTask) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0);
  small.transfer(a, host, node_0, 0, 2);
  small.task(gpu_0, 4, 6, {small.read(a)});
  small.transfer(a, host, node_0, 5, 7);
  small.task(gpu_0, 7, 8, {small.read(a)});
  EXPECT_THAT(analyse(small.run).workers, ElementsAre(shares(3, 3, 2, 0)));
}

TEST(Gaps, TheLinkWasBusyWithOtherTiles) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0), other = small.tile('B', 1, 1), another = small.tile('B', 2, 2);
  small.transfer(other, host, node_0, 0, 3, Transfer::Reason::Prefetch);
  small.transfer(another, host, node_0, 2, 4, Transfer::Reason::Prefetch);
  small.transfer(a, host, node_0, 4, 5);
  const int task = small.task(gpu_0, 5, 8, {small.read(a)});
  EXPECT_THAT(gap_before(analyse(small.run), task).text,
              HasSubstr("meanwhile the link was busy with other tiles for 4.00 s)"));
}

}  // namespace
}  // namespace tessera::trace::gaps_cpp
