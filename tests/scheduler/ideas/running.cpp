// SPDX-License-Identifier: BSD-3-Clause
// What the policy records when tasks start and end, and which workers it wakes.
#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Running : public IdeaTest {
 protected:
  Worker &a_ = add_gpu(1), &b_ = add_gpu(2);
};

TEST_F(Running, AResultIsCompleteWithTheLastTaskOfItsChain) {
  const auto first = pop(a_, {updates(1)}), last = pop(a_, {updates(1)});
  task_starts(state, first, a_.id, 1);
  EXPECT_THAT(task_ends(state, first, {updates(1)}, a_.id, 2), IsEmpty());
  task_starts(state, last, a_.id, 3);
  EXPECT_THAT(task_ends(state, last, {updates(1)}, a_.id, 4), ElementsAre(tile(1)));
  EXPECT_THAT(a_.popped, IsEmpty());
  EXPECT_TRUE(state.unfinished.empty());
}

TEST_F(Running, UnfinishedWorkIsCounted) {
  const auto silent = pop(a_, {updates(1)});
  task_flops = 3;
  const auto large = pop(a_, {updates(2)});
  task_flops = 1;
  const auto small = pop(a_, {updates(2)});
  EXPECT_EQ(state.unfinished_flops, 4);
  EXPECT_EQ(state.silent, 1);
  task_ends(state, silent, {updates(1)}, a_.id, 1);
  task_ends(state, large, {updates(2)}, a_.id, 2);
  EXPECT_EQ(state.unfinished_flops, 1);
  EXPECT_EQ(state.silent, 0);
  EXPECT_EQ(state.chains.work(a_.id).flops, 1);
  task_ends(state, small, {updates(2)}, a_.id, 3);
  EXPECT_EQ(state.unfinished_flops, 0);
}

TEST_F(Running, DurationsAreMeasured) {
  for (int i = 0; i < 2; i++) {
    const auto task = pop(a_, {updates(1)});
    task_starts(state, task, a_.id, 10);
    task_ends(state, task, {updates(1)}, a_.id, 12.5);
  }
  EXPECT_DOUBLE_EQ(predicted_seconds(state, a_, *submit({updates(1)})), 2.5);
}

// Such a task may end only after other tasks, which the worker would not start while it counts as running.
TEST_F(Running, AWorkerDoesNotWaitForATaskThatOutlivesIt) {
  const auto task = pop(a_, {updates(1)});
  EXPECT_TRUE(task_starts(state, task, a_.id, 1, true));
  EXPECT_THAT(a_.popped, IsEmpty());
  EXPECT_EQ(state.chains.unfinished(a_.id), 1);
  task_ends(state, task, {updates(1)}, no_worker, 2);  // the program's own thread reports it
  EXPECT_EQ(state.chains.unfinished(a_.id), 0);
  EXPECT_TRUE(state.unfinished.empty());
}

// The kernel itself, or a callback, may add an end dependency that nobody saw when the task started.
TEST_F(Running, AWorkerForgetsATaskWhoseEndOthersReport) {
  for (const int reporter : {no_worker, b_.id}) {
    const auto task = pop(a_, {updates(1)});
    EXPECT_TRUE(task_starts(state, task, a_.id, 1));
    task_ends(state, task, {updates(1)}, reporter, 2);
    EXPECT_THAT(a_.popped, IsEmpty());
  }
}

// A task that was suspended (OpenMP) is submitted again to continue.
TEST_F(Running, ATaskThatContinuesIsCountedOnce) {
  auto& core = add_cpu(0);
  const auto task = pop(core, {updates(1)});
  task_starts(state, task, core.id, 1);
  core.popped.clear();  // as in `take_turn`
  task_submitted(state, task, {updates(1)});
  EXPECT_EQ(state.chains.length(tile(1)), 1);
  task_ends(state, task, {updates(1)}, core.id, 2);
  EXPECT_EQ(state.chains.unfinished(core.id), 0);
  EXPECT_TRUE(state.unfinished.empty());
  EXPECT_EQ(state.results.tiles.find(tile(1)), nullptr);
}

TEST_F(Running, ATaskThatThePolicyNeverSawIsIgnored) {
  EXPECT_FALSE(task_starts(state, reinterpret_cast<TaskId>(99), a_.id, 1));
  EXPECT_THAT(task_ends(state, reinterpret_cast<TaskId>(99), {}, a_.id, 1), IsEmpty());
  EXPECT_TRUE(task_starts(state, pop(a_, {}), a_.id, 1));
}

TEST_F(Running, APoppedTaskAwaitsTheTilesThatItDoesNotHave) {
  backend.where = {{tile(1), 1}};
  pop(a_, {reads(1), reads(2), overwrites(3)});
  EXPECT_THAT(a_.popped[0].awaited, ElementsAre(tile(2)));
}

TEST_F(Running, OneWorkerWithALargeTaskFetchesUntilItStarts) {
  const auto large = pop(a_, {reads(1, gpu_memory)});
  EXPECT_EQ(state.large_fetcher, a_.id);
  task_starts(state, large, a_.id, 1);
  EXPECT_EQ(state.large_fetcher, no_worker);
}

TEST_F(Running, ANewTaskWakesItsHome) {
  a_.asleep = b_.asleep = true;
  backend.homes = {{tile(1), b_.id}};
  EXPECT_EQ(task_ready(state, submit({updates(1)})), b_.id);
  EXPECT_EQ(task_ready(state, submit({updates(1)})), a_.id);  // b_ is awake now
  EXPECT_EQ(task_ready(state, submit({updates(1)})), no_worker);
  EXPECT_EQ(b_.bound.size(), 3);
}

TEST_F(Running, ANewTaskWakesNobodyWhoCannotExecuteIt) {
  a_.asleep = b_.asleep = true;
  backend.cannot = [&](TaskId, int worker) { return worker == b_.id; };
  EXPECT_EQ(task_ready(state, submit({})), a_.id);
}

TEST_F(Running, ANewGpuTaskDoesNotWakePollingCores) {
  auto& core = add_cpu(0);
  core.asleep = true;
  state.workers_poll = true;
  EXPECT_EQ(task_ready(state, submit({})), no_worker);
  backend.cannot = [&](TaskId, int worker) { return worker != core.id; };
  EXPECT_EQ(task_ready(state, submit({})), core.id);  // nobody else can execute it
  core.asleep = true;
  state.workers_poll = false;
  backend.cannot = {};
  EXPECT_EQ(task_ready(state, submit({})), core.id);
}

TEST_F(Running, WakesWorkersThatWaitForTilesOrDeclinedTasks) {
  auto& c = add_gpu(3);
  a_.asleep = b_.asleep = c.asleep = true;
  set_waits(state, b_, true);
  EXPECT_THAT(wake_others(state, c.id), ElementsAre(b_.id));
  EXPECT_THAT(wake_others(state, c.id), IsEmpty());
  state.declined_for = bit(a_.kind) | bit(c.kind);
  EXPECT_THAT(wake_others(state, c.id), ElementsAre(a_.id));
  EXPECT_EQ(state.declined_for, 0);
  EXPECT_TRUE(c.asleep);
}

}  // namespace
}  // namespace tessera::scheduler
