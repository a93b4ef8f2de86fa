// SPDX-License-Identifier: BSD-3-Clause
// When a slow worker leaves a task to faster ones.
#include "scheduler/ideas/declining.hpp"

#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

class Declining : public IdeaTest {
 protected:
  bool leaves() {
    TaskPtr task = submit({});
    const bool left = leave_to_faster(state, cpu_, *task);
    task_ends(state, task->id, task->tiles, no_worker, state.now);
    return left;
  }
  /// Makes tasks with these flops ready. Later tasks have 4.
  void push_tasks(double flops_of_each, int count) {
    task_flops = flops_of_each;
    for (int i = 0; i < count; i++) push({});
    task_flops = 4;
  }
  void set_unfinished(int tasks) {
    while (std::ssize(state.unfinished) < tasks) submit({});
  }

  Worker &cpu_ = add_cpu(0), &gpu_ = add_gpu(1), &other_gpu_ = add_gpu(2);
};

TEST_F(Declining, ASlowWorkerLeavesTheLastTasksToFasterOnes) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  EXPECT_TRUE(leaves());  // two GPUs finish one task in 0.5 + 1 s
  EXPECT_FALSE(leave_to_faster(state, gpu_, *submit({})));
}

TEST_F(Declining, ASlowWorkerHelpsWithManyTasks) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  set_unfinished(16);
  EXPECT_TRUE(leaves());  // 17 tasks, including this one: 8.5 + 1 s
  for (int i = 0; i < 30; i++) push({});
  EXPECT_FALSE(leaves());
}

// One slow worker saves little, so it must be certain to end in time. Five of them save a quarter.
TEST_F(Declining, SlowWorkersThatSaveMuchNeedNotBeCertain) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  for (int i = 0; i < 19; i++) push({});
  EXPECT_TRUE(leaves());
  for (const int id : {3, 4, 5, 6}) add_cpu(id), backend.seconds[id] = 10.0;
  EXPECT_FALSE(leaves());
}

TEST_F(Declining, ReadyTasksCountWithTheirChains) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  for (std::uintptr_t i = 1; i <= 10; i++) push({updates(i)}), submit({updates(i)});
  set_unfinished(40);
  EXPECT_TRUE(leaves());
  for (std::uintptr_t i = 1; i <= 10; i++) submit({updates(i)});
  EXPECT_FALSE(leaves());
}

// In 15.5 s, the GPUs finish 30 tasks as large as this one.
TEST_F(Declining, SmallerTasksCountLess) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  push_tasks(1, 40);
  EXPECT_TRUE(leaves());
  push_tasks(4, 20);
  EXPECT_FALSE(leaves());
}

// Tasks that wait for results are of several kinds, and their rates differ.
TEST_F(Declining, SmallerTasksCountAsOneIfTheResultIsRead) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  push_tasks(1, 40);
  const auto task = submit({updates(1)});
  EXPECT_TRUE(leave_to_faster(state, cpu_, *task));
  submit({reads(1)});
  EXPECT_FALSE(leave_to_faster(state, cpu_, *task));
}

TEST_F(Declining, SmallerTasksCountAsOneIfTheProgramSuggestsAHome) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  push_tasks(1, 40);
  const auto task = submit({updates(1)});
  EXPECT_TRUE(leave_to_faster(state, cpu_, *task));
  backend.homes[tile(1)] = gpu_.id;
  EXPECT_FALSE(leave_to_faster(state, cpu_, *task));
}

TEST_F(Declining, LargerTasksCountAsOne) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  push_tasks(16, 15);
  EXPECT_TRUE(leaves());
}

TEST_F(Declining, TasksCountAsEqualIfTheArithmeticOfOneIsUnknown) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  push_tasks(1, 40);
  EXPECT_TRUE(leaves());
  push_tasks(0, 1);
  EXPECT_FALSE(leaves());
}

TEST_F(Declining, ASlowGpuFirstRunsWhatItHasPopped) {
  auto& slow = add_gpu(3);
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}, {slow.id, 10.0}};
  for (int i = 0; i < 30; i++) push({});
  EXPECT_FALSE(leave_to_faster(state, slow, *submit({})));
  pop(slow, {});
  EXPECT_TRUE(leave_to_faster(state, slow, *submit({})));
}

// The program has accounted for the core's durations.
TEST_F(Declining, ACoreKeepsTheTilesThatTheProgramGivesIt) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  EXPECT_TRUE(leave_to_faster(state, cpu_, *submit({updates(1)})));
  backend.homes = {{tile(1), cpu_.id}, {tile(2), gpu_.id}};
  EXPECT_FALSE(leave_to_faster(state, cpu_, *submit({updates(1)})));
  EXPECT_TRUE(leave_to_faster(state, cpu_, *submit({updates(2)})));
  backend.seconds = {{0, 10.0}, {1, 10.0}, {2, 1.0}};
  EXPECT_TRUE(leave_to_faster(state, gpu_, *submit({updates(2)})));  // a slow GPU leaves tasks only to faster GPUs
}

TEST_F(Declining, OnlyReadyTasksThatComeFirstCount) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  set_unfinished(30);
  EXPECT_TRUE(leaves());  // the 30 are not ready
  for (int i = 0; i < 30; i++) push({}, -1);
  EXPECT_TRUE(leaves());  // the last 30 are less urgent
  for (int i = 0; i < 29; i++) push({});
  EXPECT_TRUE(leaves());
  push({});
  EXPECT_FALSE(leaves());
}

TEST_F(Declining, TasksOfFasterWorkersCount) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  set_unfinished(30);
  for (std::uintptr_t i = 1; i <= 10; i++) backend.homes[tile(i)] = gpu_.id, push({updates(i)});
  for (int i = 0; i < 10; i++) reserve(other_gpu_, {});
  for (int i = 0; i < 9; i++) pop(other_gpu_, {});
  EXPECT_TRUE(leaves());
  pop(gpu_, {});
  EXPECT_FALSE(leaves());
}

TEST_F(Declining, ASlowWorkerTakesTheLastTask) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  for (int i = 0; i < 30; i++) push({});
  EXPECT_EQ(choose_task(state, cpu_), nullptr);
  EXPECT_EQ(state.shared_tasks, 30);
  const auto last = push({});
  EXPECT_EQ(id_of(choose_task(state, cpu_)), last);
}

TEST_F(Declining, OnlyMuchFasterWorkersCount) {
  backend.seconds = {{0, 1.0}, {1, 0.4}, {2, 0.4}};
  EXPECT_FALSE(leaves());
  backend.seconds = {{0, 1.0}, {1, 0.3}, {2, 0.3}};
  EXPECT_TRUE(leaves());
}

TEST_F(Declining, ShortTasksAreNotLeft) {
  backend.seconds = {{0, 0.5e-3}, {1, 0.1e-3}, {2, 0.1e-3}};
  EXPECT_FALSE(leaves());
  backend.seconds = {{0, 0.7e-3}, {1, 0.1e-3}, {2, 0.1e-3}};
  EXPECT_TRUE(leaves());
}

// As many tasks are ready as the policy counts. Tasks that are not ready may depend on slow workers.
TEST_F(Declining, TasksThatWaitForSlowWorkersDoNotCount) {
  backend.seconds = {{0, 51.0}, {1, 1.0}, {2, 1.0}};  // in 1.8 times this time, the GPUs finish 182 tasks
  for (int i = 0; i < 70; i++) push({});
  for (int i = 0; i < 115; i++) submit({updates(1)});
  EXPECT_FALSE(leaves());
  EXPECT_TRUE(leave_to_faster(state, cpu_, *submit({updates(1)})));  // 116 would wait for this worker
  state.chains.set_home(tile(1), gpu_.id);
  EXPECT_FALSE(leaves());
  state.chains.set_home(tile(1), cpu_.id);
  EXPECT_TRUE(leaves());
}

// When it ends, faster workers can run the next tasks of its chain.
TEST_F(Declining, AWorkerThatHasComputedForAWhileHoldsUpLess) {
  auto& other = add_cpu(3);
  backend.seconds = {{0, 51.0}, {1, 1.0}, {2, 1.0}, {3, 51.0}};
  task_starts(state, pop(other, {updates(1)}), other.id, 1);
  for (int i = 1; i < 40; i++) submit({updates(1)});
  for (int i = 0; i < 70; i++) push({});
  set_unfinished(200);  // in 1.72 times 51 s, the GPUs finish 174 tasks
  EXPECT_TRUE(leaves());
  state.now = 31;
  EXPECT_FALSE(leaves());
}

// Whole chains may wait for each reader of the result.
TEST_F(Declining, CountsOnlyReadyTasksIfTheResultIsRead) {
  backend.seconds = {{0, 51.0}, {1, 1.0}, {2, 1.0}};
  set_unfinished(200);
  for (int i = 0; i < 70; i++) push({});
  EXPECT_FALSE(leave_to_faster(state, cpu_, *submit({updates(1)})));
  const auto task = submit({updates(2)});
  submit({reads(2)});
  EXPECT_TRUE(leave_to_faster(state, cpu_, *task));
  for (int i = 0; i < 115; i++) push({}, 1);
  EXPECT_FALSE(leave_to_faster(state, cpu_, *task));
}

TEST_F(Declining, ReadersAreKnownWithoutWritingBack) {
  state.options.write_back = false;
  backend.seconds = {{0, 51.0}, {1, 1.0}, {2, 1.0}};
  set_unfinished(200);
  for (int i = 0; i < 70; i++) push({});
  const auto task = submit({updates(2)});
  EXPECT_FALSE(leave_to_faster(state, cpu_, *task));
  const auto reader = submit({reads(2)});
  EXPECT_TRUE(leave_to_faster(state, cpu_, *task));
  EXPECT_THAT(task_ends(state, task->id, task->tiles, gpu_.id, 1), ::testing::IsEmpty());
  EXPECT_THAT(task_ends(state, reader->id, reader->tiles, gpu_.id, 2), ::testing::IsEmpty());
  EXPECT_EQ(state.results.tiles.find(tile(2)), nullptr);
}

/// Whole products: tiles 1 to 99 are results that nothing reads.
class DecliningInProducts : public Declining {
 protected:
  DecliningInProducts() { backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}}; }
  void push_chains(int count) {
    for (int i = 0; i < count; i++) push({updates(++outputs_)}, -1);
  }
  /// Another core starts a task at time 1, and its chain has 30 more tasks.
  void start_chain(int id) {
    auto& core = add_cpu(id);
    backend.seconds[id] = 10.0;
    task_starts(state, pop(core, {updates(++outputs_)}), id, 1);
    for (int i = 0; i < 30; i++) submit({updates(outputs_)});
  }
  bool leaves_chain() { return leave_to_faster(state, cpu_, *submit({updates(++outputs_)})); }
  std::uintptr_t outputs_ = 0;
};

TEST_F(DecliningInProducts, ReadyTasksCountInAnyOrder) {
  push_chains(30);  // in 1.55 times 10 s, the GPUs finish 30
  const auto task = submit({updates(100)}), reader_of_results = submit({reads(1), updates(101)});
  EXPECT_TRUE(leave_to_faster(state, cpu_, *reader_of_results));
  EXPECT_FALSE(leave_to_faster(state, cpu_, *task));
  submit({reads(100)});
  EXPECT_TRUE(leave_to_faster(state, cpu_, *task));
}

TEST_F(DecliningInProducts, ChainsOfSmallerTasksCountLess) {
  task_flops = 1;
  push_chains(30);
  task_flops = 4;
  EXPECT_TRUE(leaves_chain());
}

// In 1.37 times 10 s, the GPUs finish 26 tasks. The other core ends in 1 s; 9 tasks of its chain fit into the rest.
TEST_F(DecliningInProducts, ChainsOfCoresThatEndSoonCount) {
  start_chain(3);
  push_chains(16);
  state.now = 10;
  EXPECT_TRUE(leaves_chain());
  push_chains(1);
  EXPECT_FALSE(leaves_chain());
  state.now = 8;
  EXPECT_TRUE(leaves_chain());
}

// Before the other cores end in 5 s, the GPUs finish 8 tasks.
TEST_F(DecliningInProducts, ACoreTakesNothingThatFasterWorkersNeedBeforeOtherCoresEnd) {
  for (const int id : {3, 4, 5, 6, 7}) start_chain(id);
  push_chains(7);
  state.now = 6;
  EXPECT_TRUE(leaves_chain());
  push_chains(1);
  EXPECT_FALSE(leaves_chain());
}

// The tasks have no data, so their arithmetic is unknown, too.
TEST_F(Declining, OneCoreMeasuresUnknownDurations) {
  backend.seconds = {{1, 1.0}, {2, 1.0}};
  auto& other_cpu = add_cpu(3);
  place_shared_again(state);
  EXPECT_TRUE(leaves());  // a GPU has no other task
  push({});
  push({});
  const auto measuring = push({});
  EXPECT_EQ(id_of(choose_task(state, cpu_)), measuring);
  pop(other_cpu, {});
  EXPECT_EQ(choose_task(state, cpu_), nullptr);
  EXPECT_EQ(state.declined_for, bit(gpu_.kind) | bit(other_gpu_.kind));
  pop(other_cpu, {reads(1, 64 * tile_bytes)});
  other_cpu.popped.erase(other_cpu.popped.begin());
  EXPECT_FALSE(leaves());  // the other one measures larger tasks
}

TEST_F(Declining, AGpuMeasuresAtOnce) {
  backend.seconds = {{0, 1.0}};
  EXPECT_FALSE(leave_to_faster(state, gpu_, *submit({})));
}

// A driver that was held up once makes a short task look long. This must not make a GPU lose all tasks of this kind.
TEST_F(Declining, IdenticalGpusDoNotLeaveTasksToEachOther) {
  const auto measure = [&](const Worker& worker, double seconds) {
    state.durations.finished(*submit({updates(1)}), worker.model, seconds);
  };
  const auto leaves_after_a_stall = [&] {
    for (int i = 0; i < 9; i++) measure(gpu_, 0.1e-3), measure(other_gpu_, 0.1e-3);
    for (int i = 0; i < 3; i++) measure(gpu_, 5e-3);
    return leave_to_faster(state, gpu_, *submit({updates(1)}));
  };
  EXPECT_TRUE(leaves_after_a_stall());  // the durations may differ
  set_device(state, gpu_, "CUDA 0.0 (NVIDIA H200 139.8 GiB 1b:00.0)");
  set_device(state, other_gpu_, "CUDA 1.0 (NVIDIA H200 139.8 GiB 43:00.0)");
  EXPECT_FALSE(leaves_after_a_stall());
}

TEST_F(Declining, UnlikeGpusLeaveTasksToFasterOnes) {
  auto& third = add_gpu(3);
  set_device(state, gpu_, "CUDA 0.0 (NVIDIA A100 (PCIe) 39.4 GiB 1b:00.0)");
  set_device(state, other_gpu_, "CUDA 1.0 (NVIDIA A100 (PCIe) 79.2 GiB 43:00.0)");
  for (const auto* name : {"", "GPU 2", "CUDA 2.0 (NVIDIA A100", "39.4 GiB (NVIDIA A100)"})
    set_device(state, third, name);
  EXPECT_NE(gpu_.model, other_gpu_.model);
  EXPECT_NE(third.model, gpu_.model);
  EXPECT_NE(third.model, other_gpu_.model);
  backend.seconds = {{1, 1.0}, {2, 10.0}, {3, 10.0}};
  EXPECT_TRUE(leave_to_faster(state, other_gpu_, *submit({})));
  EXPECT_TRUE(leave_to_faster(state, third, *submit({})));
}

TEST_F(Declining, OnlyWorkersThatCanExecuteTheTaskCount) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  backend.cannot = [](TaskId, int worker) { return worker != 0; };
  EXPECT_FALSE(leaves());
}

TEST_F(Declining, WorkersThatHaveLeftDoNotCount) {
  const auto& other_cpu = add_cpu(3);
  backend.seconds = {{cpu_.id, 1.0}, {other_cpu.id, 1.0}, {gpu_.id, 10.0}};
  backend.cannot = [&](TaskId, int worker) { return worker == other_cpu.id || worker == other_gpu_.id; };
  const auto task = submit({}, 0, true);
  EXPECT_TRUE(leave_to_faster(state, gpu_, *task));
  std::erase(state.kinds[static_cast<std::size_t>(cpu_.kind)], &cpu_);
  EXPECT_FALSE(leave_to_faster(state, gpu_, *task));
}

TEST_F(Declining, CanBeSwitchedOff) {
  state.options.decline = false;
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  EXPECT_FALSE(leaves());
}

TEST_F(Declining, DeclinedTasksAreSharedAndLoseTheirHome) {
  backend.seconds = {{0, 1.0}, {1, 10.0}, {2, 1.0}};
  backend.homes = {{tile(1), gpu_.id}};
  push({updates(1)});
  EXPECT_EQ(choose_task(state, gpu_), nullptr);
  EXPECT_EQ(state.declined_for, bit(cpu_.kind) | bit(other_gpu_.kind));
  EXPECT_TRUE(gpu_.bound.empty());
  EXPECT_EQ(state.chains.home(tile(1)), no_worker);
  EXPECT_NE(choose_task(state, other_gpu_), nullptr);
}

// All tasks are in one queue. Tasks that the worker computes as fast as others may be anywhere near its front.
TEST_F(Declining, ASlowWorkerFindsATaskThatItRunsAsFast) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  push({reads(1)});
  const auto fast_here = push({reads(2, 64 * tile_bytes)});
  push({reads(1)});
  for (const int kind : {cpu_.kind, gpu_.kind, other_gpu_.kind})
    for (int i = 0; i < 2; i++) state.durations.finished(*submit({reads(2, 64 * tile_bytes)}), kind, 1);
  EXPECT_EQ(id_of(choose_task(state, cpu_)), fast_here);
  EXPECT_EQ(choose_task(state, cpu_), nullptr);
}

/// A core that needs 10 s, and two GPUs that need 1 s. In the 15.5 s that a single core must assume, they run 31 tasks.
class ResultNeededLate : public Declining {
 protected:
  ResultNeededLate() {
    backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
    state.results.task_seconds = 1;
  }
  /// Submits a chain, other tasks, the first reader of the chain's result, and more tasks.
  bool leaves(int chain, int others, int priority_of_others = 0) {
    auto task = submit({updates(1)});
    for (int i = 1; i < chain; i++) submit({updates(1)});
    for (int i = 0; i < others; i++) submit({reads(2)}, priority_of_others);
    submit({reads(1), updates(3)});
    set_unfinished(100);
    return leave_to_faster(state, cpu_, *task);
  }
};

TEST_F(ResultNeededLate, ACoreTakesTheTask) { EXPECT_FALSE(leaves(1, 32)); }

TEST_F(ResultNeededLate, ACoreLeavesTheTaskIfTheFirstReaderComesEarlier) { EXPECT_TRUE(leaves(1, 31)); }

// The rest of the chain takes one GPU 4 s, in which the other runs 4 more tasks.
TEST_F(ResultNeededLate, TheRestOfTheChainMustEndInTime) { EXPECT_TRUE(leaves(5, 35)); }

TEST_F(ResultNeededLate, TheRestOfTheChainMayEndInTime) { EXPECT_FALSE(leaves(5, 36)); }

TEST_F(ResultNeededLate, ChainsOfOtherCoresDoNotCount) {
  auto& other = add_cpu(3);
  backend.seconds[3] = 10;
  backend.homes[tile(9)] = other.id;
  auto task = submit({updates(1)});
  pop(other, {updates(9)});
  for (int i = 0; i < 10; i++) submit({updates(9)});
  for (int i = 0; i < 20; i++) submit({reads(2)});
  submit({reads(1), updates(3)});
  set_unfinished(100);
  EXPECT_TRUE(leave_to_faster(state, cpu_, *task));
}

// As in QR factorizations: tasks of other chains soon need the other tiles. A ready chain of 41 tasks is not enough.
TEST_F(ResultNeededLate, ACoreLeavesATaskOfAChainThatWritesOtherTiles) {
  auto itself = submit({updates(1), updates(4)}), before = submit({updates(2)});
  submit({updates(2), updates(4)});
  auto independent = submit({updates(7)});
  push({updates(6)});
  for (int i = 0; i < 40; i++) submit({updates(6)});
  set_unfinished(100);
  EXPECT_TRUE(leave_to_faster(state, cpu_, *itself));
  EXPECT_TRUE(leave_to_faster(state, cpu_, *before));
  EXPECT_FALSE(leave_to_faster(state, cpu_, *independent));
}

TEST_F(ResultNeededLate, TheOrderSaysNothingIfPrioritiesContradictIt) {
  EXPECT_TRUE(leaves(1, 60, -1));  // the reader is more urgent than the tasks before it
}

TEST_F(ResultNeededLate, AGpuThatIsSlowerDoesNotTakeTheTask) {
  backend.seconds = {{1, 10.0}, {2, 1.0}};
  auto task = submit({updates(1)});
  set_unfinished(100);
  submit({reads(1), updates(3)});
  EXPECT_TRUE(leave_to_faster(state, gpu_, *task));
}

TEST_F(Declining, AWorkerTakesTheTasksThatItShouldNotLeave) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  push({reads(1)});
  backend.cannot = [](TaskId, int worker) { return worker != 0; };
  const auto only_here = push({reads(2)});
  EXPECT_EQ(id_of(choose_task(state, cpu_)), only_here);
}

}  // namespace
}  // namespace tessera::scheduler
