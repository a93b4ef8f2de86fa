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
    state.order.erase(task->id);
    return left;
  }
  void set_unfinished(int tasks) {
    while (std::ssize(state.order) < tasks) submit({});
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
  EXPECT_TRUE(leaves());  // with this one 17 tasks: 8.5 + 1 s
  set_unfinished(18);
  EXPECT_FALSE(leaves());
}

TEST_F(Declining, OnlyMuchFasterWorkersCount) {
  backend.seconds = {{0, 1.0}, {1, 0.6}, {2, 0.6}};
  EXPECT_FALSE(leaves());
  backend.seconds = {{0, 1.0}, {1, 0.3}, {2, 0.3}};
  EXPECT_TRUE(leaves());
}

TEST_F(Declining, UnknownDurationsAreMeasured) {
  backend.seconds = {{1, 1.0}, {2, 1.0}};
  EXPECT_FALSE(leaves());
  backend.seconds = {{0, 10.0}};
  EXPECT_FALSE(leaves());
}

TEST_F(Declining, OnlyWorkersThatCanExecuteTheTaskCount) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  backend.cannot = [](TaskId, int worker) { return worker != 0; };
  EXPECT_FALSE(leaves());
}

TEST_F(Declining, CanBeSwitchedOff) {
  state.options.decline = false;
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  EXPECT_FALSE(leaves());
}

TEST_F(Declining, DeclinedTasksAreSharedAndLoseTheirHome) {
  backend.seconds = {{0, 10.0}, {1, 1.0}, {2, 1.0}};
  backend.homes = {{tile(1), cpu_.id}};
  push({updates(1)});
  EXPECT_EQ(choose_task(state, cpu_), nullptr);
  EXPECT_TRUE(state.declined);
  EXPECT_TRUE(cpu_.bound.empty());
  EXPECT_EQ(state.chains.home(tile(1)), no_worker);
  EXPECT_NE(choose_task(state, gpu_), nullptr);
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
