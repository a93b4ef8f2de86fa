// SPDX-License-Identifier: BSD-3-Clause
// When a core runs tasks whose duration on cores is unknown.
#include "scheduler/ideas/measuring.hpp"

#include "fixture.hpp"
#include "scheduler/ideas/declining.hpp"

namespace tessera::scheduler {
namespace {

/// Two GPUs need 0.1 s for a task of 2.5 million flops. A core that reads 8 bytes for each multiplication at the rate
/// of a link, 10 MB/s, needs 1 s. Before then, the GPUs finish 18 tasks and begin their last two.
class Measuring : public IdeaTest {
 protected:
  Measuring() { backend.seconds = {{1, 0.1}, {2, 0.1}}; }

  TaskPtr submit_task(double flops = 2.5e6, std::size_t bytes = tile_bytes) {
    auto task = submit({updates(++tiles_, bytes)});
    task->flops = flops;
    return task;
  }
  void push_tasks(int count) {
    for (int i = 0; i < count; i++) task_ready(state, submit_task());
  }
  bool leaves(const Worker& worker, double flops = 2.5e6, std::size_t bytes = tile_bytes) {
    return leave_to_faster(state, worker, *submit_task(flops, bytes));
  }
  void run(Worker& worker, TaskPtr task, double seconds) {
    const auto id = task->id;
    const auto tiles = task->tiles;
    state.waiting++;
    task_popped(state, worker, {.task = std::move(task)});
    task_starts(state, id, worker.id, 1);
    task_ends(state, id, tiles, worker.id, 1 + seconds);
  }

  Worker &core_ = add_cpu(0), &gpu_ = add_gpu(1), &other_gpu_ = add_gpu(2), &other_core_ = add_cpu(3);

 private:
  std::uintptr_t tiles_ = 0;
};

TEST_F(Measuring, EveryGpuMeasuresFirst) {
  push_tasks(30);
  EXPECT_FALSE(leaves(core_));
  backend.seconds.erase(other_gpu_.id);
  EXPECT_TRUE(leaves(core_));
  for (int i = 0; i < 2; i++) run(other_gpu_, submit_task(), 0.1);
  EXPECT_FALSE(leaves(core_));
}

TEST_F(Measuring, ACoreMeasuresIfGpusHaveOtherWorkForTheLongestTime) {
  push_tasks(17);
  EXPECT_TRUE(leaves(core_));
  push_tasks(1);
  EXPECT_FALSE(leaves(core_));
  EXPECT_TRUE(leaves(core_, 1e7));
}

// As a product of two matrices with 512 elements each, 23170 flops.
TEST_F(Measuring, WithoutFlopsATaskCountsAsAProduct) {
  backend.seconds = {{1, 1e-3}, {2, 1e-3}};
  constexpr std::size_t bytes = 3 * 512 * sizeof(double);
  push_tasks(16);
  EXPECT_TRUE(leaves(core_, 0, bytes));  // 17.3 tasks
  push_tasks(1);
  EXPECT_FALSE(leaves(core_, 0, bytes));
}

TEST_F(Measuring, NoCoreReadsMoreThanACacheLineInANanosecond) {
  Links fast{{false, true, true}, std::vector(3, std::vector<double>(3, 450'000))};
  state.cache.set_links(fast);
  const std::vector<const Worker*> gpus{&gpu_, &other_gpu_};
  EXPECT_DOUBLE_EQ(work_beside_measurement(state, *submit_task(16e9), gpus, 0.1), 1);
}

TEST_F(Measuring, OneCoreMeasures) {
  push_tasks(30);
  state.waiting++;
  task_popped(state, other_core_, {.task = submit_task()});
  EXPECT_TRUE(leaves(core_));
  EXPECT_FALSE(leaves(core_, 2.5e6, 64 * tile_bytes));  // larger tiles
}

// The second task of a core may be much shorter, but the first one shows how long it takes at most.
TEST_F(Measuring, TheFirstMeasurementCountsForAllCores) {
  push_tasks(5);
  run(other_core_, submit_task(), 0.4);
  state.waiting++;
  task_popped(state, other_core_, {.task = submit_task()});
  EXPECT_TRUE(leaves(core_));  // before the last two begin, the GPUs finish 6 tasks
  push_tasks(1);
  EXPECT_FALSE(leaves(core_));
}

// It may have included the time to load a library.
TEST_F(Measuring, ALongFirstMeasurementIsRepeatedWhenTheBudgetAllowsIt) {
  push_tasks(10);
  run(core_, submit_task(), 5);
  EXPECT_TRUE(leaves(core_));
  run(gpu_, submit_task(1, 64 * tile_bytes), 400);
  EXPECT_FALSE(leaves(core_));
  state.waiting++;
  task_popped(state, other_core_, {.task = submit_task()});
  EXPECT_TRUE(leaves(core_));
}

TEST_F(Measuring, OtherTasksShowTheRateOfACore) {
  push_tasks(8);
  EXPECT_TRUE(leaves(core_));
  for (int i = 0; i < 2; i++) run(core_, submit_task(5e6, 64 * tile_bytes), 0.5);
  EXPECT_FALSE(leaves(core_));  // 0.25 s
  for (int i = 0; i < 2; i++) run(core_, submit_task(1e6, 8 * tile_bytes), 0.4);
  EXPECT_TRUE(leaves(core_));  // 1 s at the lower rate
}

// It takes as long as its overhead, and would let any other task look as if it took hours.
TEST_F(Measuring, ATinyTaskShowsNoRate) {
  push_tasks(18);
  for (int i = 0; i < 2; i++) run(core_, submit_task(1, sizeof(double)), 5e-6);
  EXPECT_FALSE(leaves(core_));
}

TEST_F(Measuring, TheBudgetCoversTheTimeAtAKnownRate) {
  push_tasks(2);
  for (int i = 0; i < 2; i++) run(core_, submit_task(5e6, 64 * tile_bytes), 0.5);
  EXPECT_TRUE(leaves(core_));                     // 0.25 s
  run(gpu_, submit_task(1, 8 * tile_bytes), 60);  // a twentieth for each GPU: 1.5 s, less 1 s
  EXPECT_FALSE(leaves(core_));
}

TEST_F(Measuring, ThereIsNoBudgetWhileACoreMeasures) {
  run(gpu_, submit_task(1, 64 * tile_bytes), 2);
  EXPECT_GT(measuring_budget(state), 0);
  auto task = submit_task();
  const auto id = task->id;
  state.waiting++;
  task_popped(state, other_core_, {.task = std::move(task)});
  task_starts(state, id, other_core_.id, 1);
  EXPECT_EQ(measuring_budget(state), 0);
}

// If StarPU says that a task ends only when others do, its own duration stays unknown.
TEST_F(Measuring, CoresTakeTasksThatGpusCannotMeasure) {
  backend.seconds.clear();
  push_tasks(30);
  EXPECT_TRUE(leaves(core_));
  auto task = submit_task();
  const auto id = task->id;
  state.waiting++;
  task_popped(state, gpu_, {.task = std::move(task)});
  task_starts(state, id, gpu_.id, 1, true);
  EXPECT_FALSE(leaves(core_));
}

// If all orders of magnitude between 0.1 and 1 s are equally likely, and GPUs have work for 0.5 s, they wait for 67 ms
// in the mean. For 0.4 s: 102 ms.
TEST_F(Measuring, TheBudgetCoversTheExpectedDelay) {
  push_tasks(8);
  EXPECT_TRUE(leaves(core_));
  for (int i = 0; i < 13; i++) run(gpu_, submit_task(1, 64 * tile_bytes), 0.2);
  EXPECT_NEAR(measuring_budget(state), 0.065, 1e-12);
  EXPECT_TRUE(leaves(core_));
  run(gpu_, submit_task(1, 64 * tile_bytes), 0.2);
  EXPECT_NEAR(measuring_budget(state), 0.07, 1e-12);
  EXPECT_FALSE(leaves(core_));
  run(core_, submit_task(1, 8 * tile_bytes), 0.05);
  EXPECT_NEAR(measuring_budget(state), 0.02, 1e-12);
  EXPECT_TRUE(leaves(core_));
}

// A GPU of unknown duration may be much slower than the other one.
TEST_F(Measuring, AGpuMeasuresOneTaskAtATimeIfAnotherModelIsFaster) {
  push_tasks(30);
  const auto measures = [&] {
    state.waiting++;
    task_popped(state, other_gpu_, {.task = submit_task()});
  };
  backend.seconds.clear();
  measures();
  EXPECT_FALSE(leaves(other_gpu_));  // no GPU has measured
  backend.seconds = {{gpu_.id, 0.1}};
  EXPECT_TRUE(leaves(other_gpu_));
  EXPECT_FALSE(leaves(other_gpu_, 2.5e6, 64 * tile_bytes));
  const auto here = submit_task();
  backend.homes[here->output] = other_gpu_.id;
  EXPECT_FALSE(leave_to_faster(state, other_gpu_, *here));
  decline(state, other_gpu_, *submit_task());
  EXPECT_EQ(state.declined_for, bit(gpu_.kind));
  other_gpu_.popped.clear();
  EXPECT_FALSE(leaves(other_gpu_));
  measures();
  other_gpu_.model = gpu_.model;
  EXPECT_FALSE(leaves(other_gpu_));
}

TEST_F(Measuring, KnownDurationsAndTasksForCoresAloneCostNothing) {
  run(gpu_, submit_task(), 20);
  EXPECT_DOUBLE_EQ(measuring_budget(state), 0.5);
  backend.seconds[core_.id] = 0.3;
  run(core_, submit_task(), 0.3);
  EXPECT_DOUBLE_EQ(measuring_budget(state), 0.5);
  backend.seconds.erase(core_.id);
  auto task = submit_task(1, 8 * tile_bytes);
  task->kinds = bit(cpu_kind);
  run(core_, std::move(task), 0.3);
  EXPECT_DOUBLE_EQ(measuring_budget(state), 0.5);
}

TEST_F(Measuring, AFinishedMeasurementWakesWaitingCores) {
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(std::exchange(state.declined_for, 0), 0);
    run(core_, submit_task(), 0.3);
    EXPECT_EQ(std::exchange(state.declined_for, 0), bit(core_.kind));
  }
  backend.seconds.clear();
  run(gpu_, submit_task(), 0.1);
  EXPECT_EQ(std::exchange(state.declined_for, 0), 0);
  run(gpu_, submit_task(), 0.1);
  EXPECT_EQ(std::exchange(state.declined_for, 0), bit(core_.kind) | bit(gpu_.kind));
  run(gpu_, submit_task(), 0.1);
  EXPECT_EQ(state.declined_for, 0);
}

}  // namespace
}  // namespace tessera::scheduler
