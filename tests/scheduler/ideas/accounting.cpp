// SPDX-License-Identifier: BSD-3-Clause
// Where tiles were found, and why workers were idle.
#include "scheduler/ideas/accounting.hpp"

#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

class Accounting : public IdeaTest {
 protected:
  Worker &gpu_ = add_gpu(1), &peer_ = add_gpu(2);
};

TEST_F(Accounting, CountsTheLocationsOfInputTiles) {
  backend.where = {{tile(1), 1}, {tile(2), 2}, {tile(3), 2}};
  count_hits(state, gpu_, *submit({reads(1), reads(2), updates(3), reads(4), reads(5), reads(6), overwrites(7)}));
  EXPECT_EQ(state.counts.own_tiles, 1);
  EXPECT_EQ(state.counts.peer_tiles, 2);
  EXPECT_EQ(state.counts.far_tiles, 3);
}

TEST_F(Accounting, ReservingCountsHits) {
  push({reads(1)});
  fill_station(state, gpu_);
  EXPECT_EQ(state.counts.far_tiles, 1);
}

TEST_F(Accounting, TheTimeBeforeTheFirstTaskDoesNotCount) {
  EXPECT_EQ(count_until(state, 5).idle_for_tasks, 0);
  EXPECT_EQ(count_until(state, 9).idle_for_tasks, 0);
}

TEST_F(Accounting, AWorkerWithoutWorkIsIdleForTasks) {
  const auto task = pop(gpu_, {});
  task_starts(state, task, gpu_.id, 1);
  task_ends(state, task, {}, gpu_.id, 2);
  const auto counts = count_until(state, 5);
  EXPECT_DOUBLE_EQ(counts.idle_for_tasks, 3);
  EXPECT_DOUBLE_EQ(counts.idle_for_data, 0);
}

TEST_F(Accounting, AWorkerWithReservedTasksIsIdleForData) {
  reserve(gpu_, {reads(1)});
  count_idle(state, gpu_, 10);
  count_idle(state, gpu_, 12);
  EXPECT_DOUBLE_EQ(state.counts.idle_for_data, 2);
  EXPECT_DOUBLE_EQ(state.counts.idle_for_tasks, 0);
}

// Many cores would hide how long the few GPUs wait.
TEST_F(Accounting, CoresAreNeverIdleForData) {
  auto& cpu = add_cpu(5);
  reserve(cpu, {reads(1)});
  count_idle(state, cpu, 10);
  count_idle(state, cpu, 12);
  EXPECT_DOUBLE_EQ(state.counts.idle_for_data, 0);
  EXPECT_DOUBLE_EQ(state.counts.idle_for_tasks, 0);
}

TEST_F(Accounting, AWorkerThatRunsATaskIsNotIdle) {
  task_starts(state, pop(gpu_, {}), gpu_.id, 1);
  EXPECT_DOUBLE_EQ(count_until(state, 9).idle_for_tasks, 0);
}

}  // namespace
}  // namespace tessera::scheduler
