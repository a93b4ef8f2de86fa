// SPDX-License-Identifier: BSD-3-Clause
// What happens when a worker asks for a task.
#include "scheduler/ideas/turn.hpp"

#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Turns : public IdeaTest {
 protected:
  static constexpr double now = 100;

  Turn turn(Worker& worker, double seconds_later = 0) { return take_turn(state, worker, now + seconds_later); }

  Worker &gpu_ = add_gpu(1), &peer_ = add_gpu(2);
};

TEST_F(Turns, StartsTheFirstTaskAndPrefetchesForTheOthers) {
  backend.homes = {{tile(11), gpu_.id}, {tile(12), gpu_.id}};
  const auto first = push({reads(1), updates(11)}), second = push({reads(2), updates(12)});
  const auto taken = turn(gpu_);
  EXPECT_EQ(taken.task, first);
  EXPECT_THAT(taken.prefetches.tasks, ElementsAre(second));  // StarPU itself fetches the tiles of the task that starts
  EXPECT_EQ(taken.look_again, 0);
  EXPECT_FALSE(gpu_.asleep);
  EXPECT_EQ(state.waiting, 1);
  EXPECT_THAT(reserved(gpu_), ElementsAre(second));
}

TEST_F(Turns, ATaskRunsTheImplementationThatTheWorkerHas) {
  backend.first_implementation = 2;
  push({});
  const auto task = turn(gpu_).task;
  EXPECT_EQ(backend.chosen.at(task), 2);
}

TEST_F(Turns, WithoutPrefetchingNothingIsRequested) {
  state.options.prefetch = false;
  push({reads(1)});
  push({reads(2)});
  EXPECT_THAT(turn(gpu_).prefetches.tasks, IsEmpty());
}

TEST_F(Turns, AWorkerWithoutTasksSleeps) {
  const auto taken = turn(gpu_);
  EXPECT_EQ(taken.task, nullptr);
  EXPECT_EQ(taken.look_again, 0);
  EXPECT_TRUE(gpu_.asleep);
  EXPECT_FALSE(gpu_.waits);
}

// No event reports that the tile has arrived at the peer, or that the copying time has passed.
TEST_F(Turns, APostponingWorkerAsksAgainInTime) {
  backend.homes = {{tile(11), gpu_.id}, {tile(12), gpu_.id}};
  backend.on_the_way = {{tile(1), 2}, {tile(2), 1}};
  backend.where = {{tile(11), 1}, {tile(12), 1}};
  push({reads(1), updates(11)});
  const auto arriving = push({reads(2), updates(12)});
  const auto waiting = turn(gpu_);
  EXPECT_EQ(waiting.task, nullptr);
  EXPECT_TRUE(gpu_.waits);
  EXPECT_GT(waiting.look_again, 0);
  EXPECT_EQ(turn(gpu_, waiting.look_again).task, arriving);
}

TEST_F(Turns, ATaskThatItsCodeletRefusesGoesToOthers) {
  push({reads(1)});
  gpu_.asleep = peer_.asleep = true;
  backend.cannot = [&](TaskId, int worker) { return worker == gpu_.id; };
  const auto refused = turn(gpu_);
  EXPECT_EQ(refused.task, nullptr);
  EXPECT_THAT(refused.wake, ElementsAre(peer_.id));
  EXPECT_GT(refused.look_again, 0);  // there may be another task
  EXPECT_NE(turn(peer_).task, nullptr);
}

TEST_F(Turns, AWorkerLooksAgainForRefusedTasks) {
  backend.cannot = [](TaskId, int) { return true; };
  push({reads(1)});
  EXPECT_EQ(turn(gpu_).look_again, look_interval);
  backend.cannot = nullptr;
  turn(gpu_, look_interval);
  EXPECT_NE(turn(gpu_, look_interval).task, nullptr);
}

TEST_F(Turns, OnlyOneWorkerAtATimeFetchesForALargeTask) {
  backend.homes = {{tile(11), gpu_.id}, {tile(12), peer_.id}};
  const auto first = push({reads(1, gpu_memory), updates(11)}), second = push({reads(2, gpu_memory), updates(12)});
  const auto taken = turn(gpu_);
  EXPECT_EQ(taken.task, first);
  EXPECT_TRUE(taken.too_large);
  EXPECT_THAT(taken.prefetches.tasks, IsEmpty());
  EXPECT_EQ(turn(peer_).task, nullptr);
  task_starts(state, first, gpu_.id, now);
  EXPECT_EQ(turn(peer_).task, second);
}

TEST_F(Turns, ATaskThatFitsIsNotTooLarge) {
  push({reads(1, gpu_memory * 3 / 4)});
  EXPECT_FALSE(turn(gpu_).too_large);
}

TEST_F(Turns, ACoreThatAsksForATaskRunsNone) {
  auto& core = add_cpu(0);
  const auto suspended = pop(core, {updates(1)});
  task_starts(state, suspended, core.id, 1);
  turn(core);
  EXPECT_FALSE(core.runs());
  EXPECT_EQ(state.chains.unfinished(core.id), 1);  // it will continue
  EXPECT_TRUE(state.unfinished.contains(suspended));
}

TEST_F(Turns, TheTimeWithoutATaskIsCounted) {
  const auto task = pop(gpu_, {});
  task_starts(state, task, gpu_.id, now);
  task_ends(state, task, {}, gpu_.id, now + 1);
  turn(gpu_, 3);
  EXPECT_DOUBLE_EQ(state.counts.idle_for_tasks, 2);
}

}  // namespace
}  // namespace tessera::scheduler
