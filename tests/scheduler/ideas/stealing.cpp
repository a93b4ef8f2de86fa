// SPDX-License-Identifier: BSD-3-Clause
// Which worker is the victim of a steal, and which tasks are stolen.
#include "scheduler/ideas/stealing.hpp"

#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

using ::testing::ElementsAre;

class Stealing : public IdeaTest {
 protected:
  Stealing() {
    for (auto* victim : {&a_, &b_}) task_starts(state, pop(*victim, {}), victim->id, 1);
  }

  /// A task in the queue of its home.
  TaskId push_to(const Worker& home, std::vector<TileUse> inputs = {}) {
    inputs.push_back(overwrites(++outputs_));
    backend.homes[tile(outputs_)] = home.id;
    return push(std::move(inputs));
  }
  void push_to(const Worker& home, int tasks) {
    for (int i = 0; i < tasks; i++) push_to(home);
  }

  Worker &thief_ = add_gpu(1), &a_ = add_gpu(2), &b_ = add_gpu(3);

 private:
  std::uintptr_t outputs_ = 1000;
};

TEST_F(Stealing, TheVictimHasMostTasksIfDurationsAreUnknown) {
  push_to(a_, 3);
  push_to(b_, 5);
  EXPECT_EQ(find_victim(state, thief_), &b_);
  push_to(a_, 3);
  EXPECT_EQ(find_victim(state, thief_), &a_);
}

TEST_F(Stealing, TheVictimIsBusyLongest) {
  backend.seconds = {{1, 1.0}, {2, 1.0}, {3, 2.0}};
  push_to(a_, 5);
  push_to(b_, 3);  // 6 s
  EXPECT_EQ(find_victim(state, thief_), &b_);
}

TEST_F(Stealing, ReservedTasksCountToo) {
  push_to(a_, 2);
  for (int i = 0; i < 3; i++) reserve(b_, {reads(1)});
  EXPECT_EQ(find_victim(state, thief_), &b_);
}

TEST_F(Stealing, TheVictimHasATaskThatTheThiefCanExecute) {
  push_to(a_, 2);
  backend.cannot = [&](TaskId, int worker) { return worker == thief_.id; };
  push_to(b_, 5);
  EXPECT_EQ(find_victim(state, thief_), &a_);
  EXPECT_NE(steal(state, thief_), nullptr);
  EXPECT_EQ(state.counts.steals, 1);
}

TEST_F(Stealing, ThereIsNoVictimIfNobodyHasTasks) {
  EXPECT_EQ(find_victim(state, thief_), nullptr);
  EXPECT_EQ(steal(state, thief_), nullptr);
  EXPECT_EQ(state.counts.steals, 0);
}

TEST_F(Stealing, TakesTheTaskThatCostsLeastToMove) {
  backend.where = {{tile(1), host_node}, {tile(2), 1}, {tile(3), 2}};
  push_to(a_, {reads(1)});
  const auto cheapest = push_to(a_, {reads(2)});
  push_to(a_, {reads(3)});
  push_to(a_, {reads(1)});
  EXPECT_EQ(id_of(steal(state, thief_)), cheapest);
}

TEST_F(Stealing, TakesTheLastOfEquallyCheapTasks) {
  push_to(a_, 3);
  const auto last = push_to(a_);
  EXPECT_EQ(id_of(steal(state, thief_)), last);
}

TEST_F(Stealing, LooksOnlyAtTheEndOfAQueue) {
  state.options.window = 2;
  backend.where = {{tile(2), 1}};
  push_to(a_, {reads(2)});
  push_to(a_, {reads(1)});
  const auto last = push_to(a_, {reads(1)});
  EXPECT_EQ(id_of(steal(state, thief_)), last);
}

TEST_F(Stealing, PrefersReservedTasksThatAreNotPrefetched) {
  reserve(a_, {reads(1)});
  const auto not_prefetched = reserve(a_, {reads(2)});
  reserve(a_, {reads(3)});
  a_.station.slots()[0].prefetched = a_.station.slots()[2].prefetched = true;
  EXPECT_EQ(id_of(steal(state, thief_)), not_prefetched);
}

// A task that writes a tile also waits for the copy of this tile to the victim.
TEST_F(Stealing, PrefersPrefetchedTasksWhoseResultHasArrived) {
  reserve(a_, {reads(1), updates(11)});
  const auto arrived = reserve(a_, {reads(1), reads(2), updates(12)});  // takes longer to move
  reserve(a_, {reads(1), updates(13)});
  for (auto& slot : a_.station.slots()) slot.prefetched = true;
  backend.where.insert({tile(12), a_.node});
  for (const std::uintptr_t result : {11, 13}) backend.on_the_way.insert({tile(result), a_.node});
  EXPECT_EQ(id_of(steal(state, thief_)), arrived);
  EXPECT_NE(steal(state, thief_), nullptr);
}

TEST_F(Stealing, LeavesTasksWhoseTilesAreBeingRequested) {
  reserve(a_, {reads(1)});
  reserve(a_, {reads(2)});
  for (auto& slot : a_.station.slots()) slot.issuing = true;
  EXPECT_EQ(steal(state, thief_), nullptr);
}

TEST_F(Stealing, AbandonsTheTilesThatWereCountedForTheVictim) {
  const auto task = reserve(a_, {reads(1)});
  reserve(a_, {reads(2)});
  a_.station.slots()[1].issuing = true;
  a_.station.slots()[0].counted = {tile(1)};
  EXPECT_EQ(id_of(steal(state, thief_)), task);
  EXPECT_FALSE(backend.counted.at(task));
  EXPECT_THAT(state.abandoned.take_over(*submit({reads(1), reads(2)}), a_.node), ElementsAre(tile(1)));
}

// The thief would finish at about the same time as the victim.
TEST_F(Stealing, LeavesTheOnlyTaskOfAWorker) {
  backend.seconds = {{1, 1.0}, {2, 1.0}};
  push_to(a_, 1);
  EXPECT_EQ(steal(state, thief_), nullptr);
  push_to(a_, 1);
  EXPECT_NE(steal(state, thief_), nullptr);
}

// Stealing seems worthwhile, because many tasks of the victim wait for this task. But the victim runs it as soon as its
// tiles arrive.
TEST_F(Stealing, LeavesTheFirstTaskOfAWorker) {
  for (int i = 0; i < 9; i++) submit({updates(50)});
  state.chains.set_home(tile(50), a_.id);
  push_to(a_);
  a_.popped.clear();
  EXPECT_EQ(steal(state, thief_), nullptr);
  task_starts(state, pop(a_, {}), a_.id, 1);
  EXPECT_NE(steal(state, thief_), nullptr);
}

TEST_F(Stealing, LeavesTasksOfAWaitingVictimIfTheMoveTakesLonger) {
  backend.seconds = {{1, 1.0}, {2, 1.0}};
  a_.popped.clear();
  for (int i = 0; i < 2; i++) push_to(a_, {{.tile = tile(1), .bytes = 12'000'000, .memory = 1, .reads = true}});
  for (int i = 0; i < 9; i++) submit({updates(50)});
  state.chains.set_home(tile(50), a_.id);
  backend.homes.clear();
  EXPECT_EQ(steal(state, thief_), nullptr);  // 1.2 s from the host
  backend.where = {{tile(1), 2}};            // 0.24 s from a peer
  EXPECT_NE(steal(state, thief_), nullptr);
}

// While the program still submits tasks, the thief's own tasks may come next.
TEST_F(Stealing, LeavesTasksToASuggestedHomeUntilItRuns) {
  push_to(a_, 9);
  a_.popped.clear();
  EXPECT_EQ(steal(state, thief_), nullptr);
  task_starts(state, pop(a_, {}), a_.id, 1);
  EXPECT_NE(steal(state, thief_), nullptr);
}

// The victim runs its popped task before the task that could be stolen.
TEST_F(Stealing, APoppedTaskThatWaitsForItsTilesIsWorkOfTheVictim) {
  backend.seconds = {{1, 1.0}, {2, 1.0}};
  a_.popped.clear();
  push_to(a_);
  for (int i = 0; i < 9; i++) submit({updates(50)});
  state.chains.set_home(tile(50), a_.id);
  backend.homes.clear();
  EXPECT_EQ(steal(state, thief_), nullptr);
  pop(a_, {reads(1)});
  EXPECT_NE(steal(state, thief_), nullptr);
}

TEST_F(Stealing, LeavesATaskThatTakesLongToMove) {
  backend.seconds = {{1, 1.0}, {2, 1.0}};
  for (int i = 0; i < 3; i++) push_to(a_, {{.tile = tile(1), .bytes = 20'000'000, .memory = 1, .reads = true}});  // 2 s
  EXPECT_EQ(steal(state, thief_), nullptr);
  backend.where = {{tile(1), 2}};  // 0.4 s from a peer
  EXPECT_NE(steal(state, thief_), nullptr);
}

TEST_F(Stealing, TakesNothingWhileItsOwnTasksReleaseMore) {
  push_to(a_, 9);
  pop(thief_, {updates(1)});
  EXPECT_NE(steal(state, thief_), nullptr);
  submit({updates(1)});  // the next task of its chain
  EXPECT_EQ(steal(state, thief_), nullptr);
}

// After each short task of a single chain, a worker idles for a large part of the time until StarPU starts the next.
TEST_F(Stealing, ASingleShortTaskDoesNotKeepTheThiefBusy) {
  const auto takes_at = [&](double seconds) {
    backend.seconds = {{1, seconds}, {2, seconds}};
    return steal(state, thief_) != nullptr;
  };
  push_to(a_, 9);
  pop(thief_, {updates(1)});
  submit({updates(1)});
  EXPECT_FALSE(takes_at(1e-3));
  EXPECT_TRUE(takes_at(30e-6));
  pop(thief_, {updates(2)});
  submit({updates(2)});
  EXPECT_FALSE(takes_at(30e-6));
}

/// A task whose result another task reads, in the queue of `a_`, which runs a task of 1 s.
class StealingForReaders : public Stealing {
 protected:
  StealingForReaders() { backend.seconds = {{1, 1.0}, {2, 1.0}, {3, 1.0}}; }

  /// Whether the thief takes a task of the victim that it could run at once.
  bool takes() {
    const auto task = push({updates(50)});
    submit({reads(50), updates(51)});
    state.chains.set_home(tile(50), a_.id);
    for (auto& [key, queue] : state.shared)
      while (!queue.empty()) a_.bound.add(queue.take(queue.tasks().begin())), state.shared_tasks--;
    state.now = 1;  // the victim's task has just started
    return id_of(steal(state, thief_)) == task;
  }
  /// Gives a worker unfinished tasks that are not ready.
  void give(const Worker& worker, std::uintptr_t output, int tasks) {
    for (int i = 0; i < tasks; i++) submit({updates(output)});
    state.chains.set_home(tile(output), worker.id);
  }
};

// The thief's own tasks may wait for this result.
TEST_F(StealingForReaders, TakesATaskThatItEndsEarlierAlthoughItHasMoreTasks) {
  give(thief_, 60, 9);
  EXPECT_TRUE(takes());  // ends after 1 s instead of 2
}

TEST_F(StealingForReaders, LeavesATaskThatTheVictimEndsEarlier) {
  give(a_, 60, 9);
  a_.popped.clear();
  pop(a_, {});
  backend.seconds[2] = 0.4;
  EXPECT_FALSE(takes());  // ends after 1 s instead of 0.8
}

TEST_F(Stealing, LeavesLargeTasks) {
  for (int i = 0; i < 3; i++) push_to(a_, {reads(1, gpu_memory)});
  EXPECT_EQ(steal(state, thief_), nullptr);
}

TEST_F(Stealing, HappensOnlyIfAWorkerHasNoTask) {
  push_to(a_, 9);
  const auto own = push_to(thief_);
  fill_station(state, thief_);
  EXPECT_THAT(reserved(thief_), ElementsAre(own));
  thief_.station.remove(0);
  fill_station(state, thief_);
  EXPECT_EQ(thief_.station.size(), 1);
  EXPECT_EQ(state.counts.steals, 1);
}

TEST_F(Stealing, CanBeSwitchedOff) {
  state.options.steal = false;
  push_to(a_, 9);
  fill_station(state, thief_);
  EXPECT_TRUE(thief_.station.empty());
}

// Two GPUs leave a task to a third, which is four times as fast. It has many tasks, but none of them is ready.
TEST_F(Stealing, ATaskIsNotPassedBackAndForth) {
  backend.seconds = {{thief_.id, 4.0}, {a_.id, 1.0}, {b_.id, 4.0}};
  for (int i = 0; i < 20; i++) submit({updates(60)});
  state.chains.set_home(tile(60), a_.id);
  const auto task = push({updates(50)});
  for (int i = 0; i < 9; i++)
    for (auto* worker : {&thief_, &b_, &a_}) fill_station(state, *worker);
  EXPECT_THAT(reserved(a_), ElementsAre(task));
  EXPECT_EQ(state.chains.home(tile(50)), a_.id);
  EXPECT_EQ(state.counts.steals, 0);
}

/// Two chains of worker 2, which runs a task of another chain: tile 50 with four tasks, and tile 60 with five.
class Offering : public Stealing {
 protected:
  Offering() {
    for (const auto& [output, tasks] : {std::pair{50, 3}, std::pair{60, 5}}) {
      for (int i = 0; i < tasks; i++) submit({updates(output)});
      state.chains.set_home(tile(output), a_.id);
    }
    thief_.asleep = true;
  }
  int home_after_next() {
    push({updates(50)});
    return state.chains.home(tile(50));
  }
};

// The home would take the task at once, so the thief would never find one.
TEST_F(Offering, AGpuWithoutWorkGetsAChainWhoseNextTaskBecomesReady) {
  EXPECT_EQ(home_after_next(), thief_.id);
  EXPECT_EQ(thief_.bound.size(), 1);
  EXPECT_EQ(state.counts.steals, 1);
  EXPECT_FALSE(thief_.asleep);
}

TEST_F(Offering, AHomeThatIsBetweenTwoTasksIsStillBusy) {
  a_.popped.clear();
  pop(a_, {});
  EXPECT_EQ(home_after_next(), thief_.id);
}

TEST_F(Offering, AHomeWithoutAnotherTaskKeepsTheChain) {
  a_.popped.clear();
  EXPECT_EQ(home_after_next(), a_.id);
}

TEST_F(Offering, AHomeThatWaitsForTilesKeepsTheChain) {
  a_.popped.clear();
  pop(a_, {reads(1)});
  EXPECT_EQ(home_after_next(), a_.id);
}

TEST_F(Offering, AGpuWithWorkGetsNothing) {
  pop(thief_, {});
  EXPECT_EQ(home_after_next(), a_.id);
}

TEST_F(Offering, AChainThatEndsNoEarlierElsewhereStays) {
  backend.seconds = {{1, 2.0}, {2, 1.0}};  // 4 tasks at 2 s, and 9 at 1 s
  EXPECT_EQ(home_after_next(), a_.id);
}

TEST_F(Offering, AChainStaysAtItsSuggestedHome) {
  backend.homes[tile(50)] = a_.id;
  EXPECT_EQ(home_after_next(), a_.id);
}

TEST_F(Offering, CanBeSwitchedOffWithStealing) {
  state.options.steal = false;
  EXPECT_EQ(home_after_next(), a_.id);
}

}  // namespace
}  // namespace tessera::scheduler
