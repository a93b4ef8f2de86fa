// SPDX-License-Identifier: BSD-3-Clause
// Chains of tasks that write the same tile, and the worker on which they stay.
#include <cmath>
#include <iterator>

#include "fixture.hpp"
#include "scheduler/ideas/ending.hpp"

namespace tessera::scheduler {
namespace {

class Homes : public IdeaTest {
 protected:
  Worker &a_ = add_gpu(1), &b_ = add_gpu(2);
};

TEST_F(Homes, ATaskWaitsAtTheHomeThatTheProgramSuggests) {
  backend.homes = {{tile(1), b_.id}};
  const auto task = push({reads(2), updates(1)});
  ASSERT_EQ(b_.bound.size(), 1);
  EXPECT_EQ(b_.bound.front().id, task);
  EXPECT_EQ(state.shared_tasks, 0);
}

TEST_F(Homes, ATaskWithoutAHomeIsShared) {
  push({updates(1)});
  push({reads(1)});
  EXPECT_EQ(state.shared_tasks, 2);
}

TEST_F(Homes, TheEndOfATaskBehindALongQueueIsNotPredicted) {
  backend.seconds = {{a_.id, 1}};
  const auto end_behind = [&](int queued) {
    while (std::ssize(a_.bound.tasks()) < queued) a_.bound.add(submit({updates(1)}));
    return seconds_until_ended(state, a_, *submit({updates(2)}), 1e6);
  };
  EXPECT_TRUE(std::isfinite(end_behind(64)));
  EXPECT_TRUE(std::isinf(end_behind(65)));
}

/// A short task whose result another task reads. Worker 1 has the tile that it reads; moving it takes 0.02 ms.
class HomeOfAShortTask : public Homes {
 protected:
  HomeOfAShortTask() {
    backend.where = {{tile(1), a_.node}};
    backend.seconds = {{a_.id, 0.01e-3}, {b_.id, 0.01e-3}};
  }
  int home_of_next(std::vector<TileUse> tiles = {reads(1), overwrites(2)}, bool is_read = true) {
    auto task = submit(std::move(tiles));
    if (is_read) submit({reads(2), updates(3)});
    task_ready(state, std::move(task));
    return state.chains.home(tile(2));
  }
};

TEST_F(HomeOfAShortTask, IsTheGpuThatHasItsTiles) {
  EXPECT_EQ(home_of_next(), a_.id);
  EXPECT_EQ(a_.bound.size(), 1);
}

TEST_F(HomeOfAShortTask, IsOpenIfAnotherGpuEndsItEarlier) {
  backend.seconds = {{a_.id, 0.02e-3}, {b_.id, 0.02e-3}};
  pop(a_, {});  // 0.04 ms there, and 0.04 elsewhere
  EXPECT_EQ(home_of_next(), no_worker);
}

TEST_F(HomeOfAShortTask, IsOpenIfNoGpuHasAllItsTiles) {
  EXPECT_EQ(home_of_next({reads(1), reads(4), overwrites(2)}), no_worker);
}

TEST_F(HomeOfAShortTask, IsOpenIfAllGpusHaveItsTiles) {
  backend.where.insert({tile(1), b_.node});
  EXPECT_EQ(home_of_next(), no_worker);
}

TEST_F(HomeOfAShortTask, IsOpenIfNoTaskReadsItsResult) {
  EXPECT_EQ(home_of_next({reads(1), overwrites(2)}, false), no_worker);
}

TEST_F(HomeOfAShortTask, IsOpenIfDurationsAreUnknown) {
  backend.seconds = {};
  EXPECT_EQ(home_of_next(), no_worker);
}

/// The last task of a chain whose home is worker 1: a solve, which takes 2 s there. The home has five products of 1 s
/// left. Worker 2, another model, takes 4 s for a product, but 3 s for a solve.
class HomeOfALastTask : public Homes {
 protected:
  HomeOfALastTask() {
    state.results.task_seconds = 1;
    for (int i = 0; i < 5; i++) reserve(a_, product());
    measure(a_, 1, 2);
    measure(b_, 4, 3);
  }
  static std::vector<TileUse> product() { return {reads(1), updates(2)}; }
  /// @param tasks  between the solve and the first task that reads its result; with eight, this one runs after 6.5 s
  /// @param bytes  of the result
  int home_after(int tasks = 8, std::size_t bytes = tile_bytes) {
    backend.where.insert({tile(chain_), a_.node});
    auto result = updates(chain_);
    result.bytes = bytes;
    auto solve = submit({reads(3), result});
    solve->codelet = solve_;
    for (int i = 0; i < tasks; i++) submit(product());
    submit({reads(chain_), updates(4)});
    state.chains.set_home(tile(chain_), a_.id);
    task_ready(state, std::move(solve));
    return state.chains.home(tile(chain_));
  }
  void measure(const Worker& worker, double product_seconds, double solve_seconds) {
    Task task{.tiles = product(), .memory = 2 * tile_bytes};
    for (int i = 0; i < 7; i++) state.durations.finished(task, worker.model, product_seconds);
    task.codelet = solve_;
    for (int i = 0; i < 7; i++) state.durations.finished(task, worker.model, solve_seconds);
  }

  const std::uintptr_t chain_ = 9;

 private:
  const CodeletId solve_ = reinterpret_cast<CodeletId>(1);
};

TEST_F(HomeOfALastTask, IsAWorkerThatSuitsItBetter) {
  EXPECT_EQ(home_after(), b_.id);
  EXPECT_EQ(b_.bound.size(), 1);
}

TEST_F(HomeOfALastTask, IsTheWorkerThatEndsItFirst) {
  const auto& core = add_cpu(6);
  measure(core, 50, 2.5);
  EXPECT_EQ(home_after(), core.id);
}

TEST_F(HomeOfALastTask, StaysIfTheOtherWorkerIsAsSlowAtIt) {
  measure(b_, 1.5, 3);
  EXPECT_EQ(home_after(), a_.id);
}

TEST_F(HomeOfALastTask, IsAWorkerToWhichItsTilesMoveInTime) {
  state.results.task_seconds = 100;
  EXPECT_EQ(home_after(8, 150'000'000), b_.id);  // 3 s
}

TEST_F(HomeOfALastTask, StaysIfItsTilesTakeLongToMove) {
  state.results.task_seconds = 100;
  EXPECT_EQ(home_after(8, 200'000'000), a_.id);
}

TEST_F(HomeOfALastTask, StaysIfTheHomeHasNoOtherTask) {
  for (int i = 0; i < 5; i++) a_.station.remove(0);
  EXPECT_EQ(home_after(), a_.id);
}

TEST_F(HomeOfALastTask, StaysIfTheResultIsNeededEarlier) {
  EXPECT_EQ(home_after(6), a_.id);  // after 5.5 s
}

TEST_F(HomeOfALastTask, StaysIfTasksDoNotRunInOrder) {
  state.is_in_order = false;
  EXPECT_EQ(home_after(), a_.id);
}

TEST_F(HomeOfALastTask, StaysIfTheOtherWorkerIsBusy) {
  pop(b_, product());
  EXPECT_EQ(home_after(), a_.id);
}

TEST_F(HomeOfALastTask, StaysIfTheChainContinues) {
  submit({reads(3), updates(chain_)});
  EXPECT_EQ(home_after(), a_.id);
}

TEST_F(HomeOfALastTask, StaysIfTheProgramSuggestsIt) {
  backend.homes = {{tile(chain_), a_.id}};
  EXPECT_EQ(home_after(), a_.id);
}

TEST_F(HomeOfALastTask, StaysIfADurationIsUnknown) {
  measure(b_, 0, 3);
  EXPECT_EQ(home_after(), a_.id);
}

// Two GPUs run the five tasks before it.
TEST_F(HomeOfALastTask, IsNeededByTheFirstReaderOrAtTheEnd) {
  const auto solve = submit({updates(chain_)});
  EXPECT_EQ(seconds_until_needed(state, *solve), 2.5);
  submit(product());
  EXPECT_EQ(seconds_until_needed(state, *solve), 3);
  submit({reads(chain_), updates(4)});
  submit(product());
  EXPECT_EQ(seconds_until_needed(state, *solve), 3);
}

TEST_F(Homes, TheRestOfAChainFollowsItsHome) {
  backend.homes = {{tile(1), a_.id}};
  push({updates(1)});
  state.chains.set_home(tile(1), b_.id);
  push({updates(1)});
  EXPECT_EQ(a_.bound.size(), 1);
  EXPECT_EQ(b_.bound.size(), 1);
}

TEST_F(Homes, AHomeThatCannotExecuteTheTaskIsIgnored) {
  backend.homes = {{tile(1), a_.id}};
  backend.cannot = [&](TaskId, int worker) { return worker == a_.id; };
  push({updates(1)});
  EXPECT_EQ(state.shared_tasks, 1);
}

TEST_F(Homes, ARestrictedTaskNamesItsWorkers) {
  add_cpu(7);
  add_cpu(6);
  backend.cannot = [&](TaskId, int worker) { return worker == 7; };
  const auto task = submit({}, 0, true);
  EXPECT_THAT(task->workers, ::testing::ElementsAre(1, 2, 6));
  EXPECT_TRUE(can_execute(*find_worker(state, 6), *task));
  EXPECT_FALSE(can_execute(*find_worker(state, 7), *task));
}

TEST_F(Homes, CanBeSwitchedOff) {
  state.options.chains = false;
  backend.homes = {{tile(1), a_.id}};
  push({updates(1)});
  EXPECT_EQ(state.shared_tasks, 1);
}

TEST_F(Homes, UnfinishedTasksAreCountedAtTheirHome) {
  backend.homes = {{tile(1), a_.id}};
  auto& chains = state.chains;
  for (int i = 0; i < 3; i++) chains.submitted(tile(1));
  EXPECT_EQ(chains.unfinished(a_.id), 3);
  EXPECT_EQ(chains.length(tile(1)), 3);
  chains.set_home(tile(1), b_.id);
  EXPECT_EQ(chains.unfinished(a_.id), 0);
  EXPECT_EQ(chains.unfinished(b_.id), 3);
  for (int left = 2; left >= 0; left--) {
    chains.finished(tile(1));
    EXPECT_EQ(chains.unfinished(b_.id), left);
  }
  chains.finished(tile(1));  // the chain has ended
  EXPECT_EQ(chains.unfinished(b_.id), 0);
  EXPECT_EQ(chains.length(tile(1)), 1);
}

TEST_F(Homes, WorkIsCountedAtItsHome) {
  backend.homes = {{tile(1), a_.id}, {tile(2), a_.id}};
  auto& chains = state.chains;
  chains.submitted(tile(1), 5);
  chains.submitted(tile(1), 3);
  chains.submitted(tile(2), 1);
  EXPECT_EQ(chains.work(tile(1)).flops, 8);
  EXPECT_EQ(chains.work(a_.id).flops, 9);
  chains.finished(tile(1), 5);
  chains.set_home(tile(1), b_.id);
  EXPECT_EQ(chains.work(a_.id).flops, 1);
  EXPECT_EQ(chains.work(b_.id).flops, 3);
  chains.finished(tile(1), 3);
  EXPECT_EQ(chains.work(b_.id).flops, 0);
  EXPECT_EQ(chains.work(tile(1)).flops, 0);
}

TEST_F(Homes, AChainStartsAgainAtTheSuggestedHome) {
  backend.homes = {{tile(1), a_.id}};
  state.chains.submitted(tile(1));
  state.chains.set_home(tile(1), b_.id);
  EXPECT_EQ(state.chains.home(tile(1)), b_.id);
  state.chains.finished(tile(1));
  EXPECT_EQ(state.chains.home(tile(1)), a_.id);
}

TEST_F(Homes, AnIncompleteResultCountsAtItsHome) {
  backend.homes = {{tile(1), a_.id}, {tile(2), a_.id}};
  auto& chains = state.chains;
  chains.submitted(tile(1));
  chains.submitted(tile(2));
  chains.begin(tile(1), 100);
  chains.begin(tile(1), 100);  // a second task of the chain
  chains.begin(tile(2), 20);
  EXPECT_EQ(chains.incomplete_bytes(a_.id), 120);
  EXPECT_TRUE(chains.has_begun(tile(1), a_.id));
  EXPECT_FALSE(chains.has_begun(tile(1), b_.id));
  chains.finished(tile(1));
  EXPECT_EQ(chains.incomplete_bytes(a_.id), 20);
  chains.set_home(tile(2), b_.id);  // no task has begun there
  EXPECT_EQ(chains.incomplete_bytes(a_.id), 0);
  EXPECT_EQ(chains.incomplete_bytes(b_.id), 0);
}

TEST_F(Homes, AWorkerThatLeavesIsForgotten) {
  backend.homes = {{tile(1), a_.id}, {tile(2), b_.id}};
  state.chains.submitted(tile(1));
  state.chains.submitted(tile(2));
  state.chains.forget(a_.id);
  EXPECT_EQ(state.chains.home(tile(1)), no_worker);
  EXPECT_EQ(state.chains.home(tile(2)), b_.id);
  EXPECT_EQ(state.chains.unfinished(a_.id), 0);
}

}  // namespace
}  // namespace tessera::scheduler
