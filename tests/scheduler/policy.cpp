// SPDX-License-Identifier: BSD-3-Clause
// The scheduling policy in StarPU programs without Tessera.
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>

#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/starpu.hpp"

namespace tessera::test::policy_cpp {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;

TEST(Policy, IsTheOneThatRuns) {
  const Starpu starpu;
  EXPECT_STREQ(starpu_sched_get_sched_policy()->policy_name, "tessera");
}

// StarPU programs use STARPU_MAX_PRIO as a priority. It equals STARPU_MIN_PRIO if the policy does not set a range.
TEST(Policy, OffersARangeOfPriorities) {
  const Starpu starpu;
  EXPECT_GT(STARPU_MAX_PRIO, STARPU_MIN_PRIO);
}

TEST(Policy, RunsTasksWithoutData) {
  const Starpu starpu;
  std::atomic<int> done = 0;
  for (int i = 0; i < 200; i++) submit(task_of([&](void**) { done++; }));
  starpu_task_wait_for_all();
  EXPECT_EQ(done, 200);
  EXPECT_EQ(counts().tasks, 200);
}

TEST(Policy, RunsHundredThousandTinyTasks) {
  constexpr int tasks = 100000;
  const Starpu starpu;
  std::atomic<int> done = 0;
  for (int i = 0; i < tasks; i++) submit(task_of([&](void**) { done++; }));
  starpu_task_wait_for_all();
  EXPECT_EQ(done, tasks);
  EXPECT_EQ(counts().tasks, tasks);
}

// No worker executes these tasks, but others depend on them, and their callbacks run.
TEST(Policy, KnowsTasksThatNobodyExecutes) {
  static starpu_codelet nowhere = [] {
    starpu_codelet codelet{};
    codelet.where = STARPU_NOWHERE;
    codelet.nbuffers = 1;
    codelet.modes[0] = STARPU_RW;
    return codelet;
  }();
  const Starpu starpu;
  std::atomic<int> called = 0;
  const auto count = [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); };
  const auto add = [&](starpu_task* task) {
    task->callback_func = count, task->callback_arg = &called;
    submit(task);
  };
  Numbers chain;
  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i < 20; i++) {
    auto* of_codelet = starpu_task_create();
    of_codelet->cl = &nowhere;
    of_codelet->handles[0] = chain.handle();
    add(of_codelet);

    auto* of_task = task_of([](void**) { ADD_FAILURE() << "executed"; }, {{chain.handle(), STARPU_RW}});
    delete static_cast<Work*>(of_task->cl_arg);
    of_task->cl_arg = nullptr;
    of_task->where = STARPU_NOWHERE;
    add(of_task);

    add(starpu_task_create());  // has no codelet
    submit(link_of(chain, i));
    expected = appended(expected, i);
  }
  EXPECT_EQ(chain.value(), expected);
  starpu_task_wait_for_all();
  EXPECT_EQ(called, 60);
  EXPECT_EQ(counts().tasks, 20);
}

/// Whether a CPU worker computes in another memory than the host's. StarPU copies the tile of a closed transaction back
/// from there into memory that it has freed before.
bool breaks_transactions() {
  return std::ranges::any_of(cpus_of_starpu(), [](int worker) {
    return starpu_worker_get_memory_node(static_cast<unsigned>(worker)) != STARPU_MAIN_RAM;
  });
}

/// A transaction of StarPU that is cancelled before its tasks become ready.
class CancelledTransaction {
 public:
  CancelledTransaction() : transaction_(starpu_transaction_open([](void*, void*) { return 0; }, nullptr)) {}
  ~CancelledTransaction() { starpu_transaction_close(transaction_); }
  CancelledTransaction(const CancelledTransaction&) = delete;
  CancelledTransaction& operator=(const CancelledTransaction&) = delete;

  void submit_link(const Numbers& chain, void (*epilogue)(void*) = nullptr, void* argument = nullptr) {
    auto* const task = link_of(chain, 1, [] { ADD_FAILURE() << "executed"; });
    task->transaction = transaction_;
    task->epilogue_callback_func = epilogue, task->epilogue_callback_arg = argument;
    submit(task);
  }

 private:
  starpu_transaction* transaction_;
};

// A tile whose tasks have all ended takes the home that the program suggests next.
TEST(Policy, ForgetsTheTasksOfCancelledTransactions) {
  const Environment environment{{"TESSERA_SCHED", "-steal"}};
  const Starpu starpu;
  if (breaks_transactions()) GTEST_SKIP() << "StarPU's transactions need one memory";
  const auto cpus = cpus_of_starpu();
  ASSERT_EQ(cpus.size(), 2);
  std::atomic<int> epilogues = 0;
  const auto count = [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); };
  for (const bool own_epilogue : {false, true}) {
    SCOPED_TRACE(own_epilogue);
    Numbers chain;
    tessera_sched_suggest_home(chain.handle(), cpus[0]);
    {
      CancelledTransaction transaction;
      for (int i = 0; i < 10; i++)
        if (own_epilogue) transaction.submit_link(chain, count, &epilogues);
        else transaction.submit_link(chain);
    }
    starpu_task_wait_for_all();
    tessera_sched_suggest_home(chain.handle(), cpus[1]);
    int worker = -1;
    submit(link_of(chain, 1, [&] { worker = starpu_worker_get_id(); }));
    EXPECT_EQ(chain.value(), appended(0, 1));
    EXPECT_EQ(worker, cpus[1]);
  }
  EXPECT_EQ(epilogues, 10);
}

// Epochs of a transaction are confirmed or cancelled in turn, between other tasks on the same tile.
TEST(Policy, RunsTheConfirmedTasksOfTransactionsInOrder) {
  const Starpu starpu;
  if (breaks_transactions()) GTEST_SKIP() << "StarPU's transactions need one memory";
  auto* const transaction =
      starpu_transaction_open([](void*, void* confirmed) { return confirmed != nullptr ? 1 : 0; }, nullptr);
  Numbers chain;
  std::uint64_t expected = 0;
  for (std::uint64_t epoch = 0; epoch < 10; epoch++) {
    for (std::uint64_t term = 0; term < 5; term++) {
      auto* const task = link_of(chain, term);
      task->transaction = transaction;
      submit(task);
      if (epoch % 2 == 1) expected = appended(expected, term);
      submit(link_of(chain, 7));
      expected = appended(expected, 7);
    }
    starpu_transaction_next_epoch(transaction, epoch % 2 == 0 ? &chain : nullptr);
  }
  starpu_transaction_close(transaction);
  EXPECT_EQ(chain.value(), expected);
}

/// Counts how many tasks each worker ran.
class Census {
 public:
  void here() {
    const std::scoped_lock lock(mutex_);
    tasks_[starpu_worker_get_id()]++;
  }
  const std::map<int, int>& tasks() const { return tasks_; }

 private:
  std::mutex mutex_;
  std::map<int, int> tasks_;
};

TEST(Policy, ObeysTheWorkerOfATask) {
  const Starpu starpu;
  for (const int worker : cpus_of_starpu()) {
    Numbers chain;
    tessera_sched_suggest_home(chain.handle(), cpus_of_starpu().front());
    Census census;
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < 50; i++) {
      auto* task = link_of(chain, i, [&] { census.here(); });
      task->execute_on_a_specific_worker = 1;
      task->workerid = static_cast<unsigned>(worker);
      submit(task);
      submit(link_of(chain, i));  // between these, a task that any worker may run
      expected = appended(appended(expected, i), i);
    }
    EXPECT_EQ(chain.value(), expected);
    EXPECT_EQ(census.tasks(), (std::map<int, int>{{worker, 50}}));
  }
}

TEST(Policy, ObeysTheListOfWorkersOfATask) {
  const Starpu starpu;
  const auto cpus = cpus_of_starpu();
  ASSERT_EQ(cpus.size(), 2);
  for (const int worker : cpus) {
    Census census;
    std::array<std::uint32_t, (STARPU_NMAXWORKERS + 31) / 32> list{};
    list[static_cast<std::size_t>(worker) / 32] |= std::uint32_t{1} << (worker % 32);
    Numbers chain;
    tessera_sched_suggest_home(chain.handle(), worker == cpus[0] ? cpus[1] : cpus[0]);
    for (std::uint64_t i = 0; i < 50; i++) {
      for (auto* task : {link_of(chain, i, [&] { census.here(); }), task_of([&](void**) { census.here(); })}) {
        task->workerids = list.data();
        task->workerids_len = static_cast<unsigned>(list.size());
        submit(task);
      }
    }
    starpu_task_wait_for_all();
    EXPECT_EQ(census.tasks(), (std::map<int, int>{{worker, 100}}));
  }
}

TEST(Policy, AsksTheCodeletWhoCanExecuteIt) {
  static std::atomic<int> able;
  static starpu_codelet codelet = [] {
    auto c = *work_codelet();
    c.can_execute = [](unsigned worker, starpu_task*, unsigned) { return static_cast<int>(worker) == able ? 1 : 0; };
    return c;
  }();
  const Starpu starpu;
  for (const int worker : cpus_of_starpu()) {
    able = worker;
    Census census;
    for (int i = 0; i < 100; i++) {
      auto* task = task_of([&](void**) { census.here(); });
      task->cl = &codelet;
      submit(task);
    }
    starpu_task_wait_for_all();
    EXPECT_EQ(census.tasks(), (std::map<int, int>{{worker, 100}}));
  }
}

TEST(Policy, RunsTheMostUrgentFirstThenTheEarliest) {
  constexpr std::array priorities{0, 5, -3, 5, 1000, 0, -3, 7, 1, 5, 0, -1000, 2, 2, 7, 3, 4, -1, 6, 0};
  const Starpu starpu(1);
  std::vector<int> order, expected(priorities.size());
  starpu_pause();  // otherwise the first would run before there is another to choose from
  for (std::size_t i = 0; i < priorities.size(); i++) {
    expected[i] = static_cast<int>(i);
    auto* task = task_of([&, i](void**) { order.push_back(static_cast<int>(i)); });
    task->priority = priorities[i];
    submit(task);
  }
  starpu_resume();
  starpu_task_wait_for_all();
  std::ranges::stable_sort(expected, std::greater{}, [&](int i) { return priorities[static_cast<std::size_t>(i)]; });
  EXPECT_THAT(order, ElementsAreArray(expected));
}

/// Several chains whose tasks also read the tile of the next chain, and their expected results.
class Chains {
 public:
  explicit Chains(std::size_t count, std::size_t numbers = 16) : expected_(count) {
    for (std::size_t i = 0; i < count; i++) chains_.emplace_back(numbers);
  }
  std::deque<Numbers>& all() { return chains_; }

  void submit_links(
      std::uint64_t count, const std::function<void()>& also = [] {}) {
    for (std::uint64_t term = 0; term < count; term++)
      for (std::size_t i = 0; i < chains_.size(); i++) {
        const std::size_t next = (i + 1) % chains_.size();
        submit(task_of(
            [term, also](void* buffers[]) {
              also();
              append(buffers[0], term + *reinterpret_cast<std::uint64_t*>(STARPU_VECTOR_GET_PTR(buffers[1])));
            },
            {{chains_[i].handle(), STARPU_RW}, {chains_[next].handle(), STARPU_R}}));
        expected_[i] = appended(expected_[i], term + expected_[next]);
      }
  }

  void expect_right() {
    for (std::size_t i = 0; i < chains_.size(); i++) EXPECT_EQ(chains_[i].value(), expected_[i]) << "chain " << i;
  }

 private:
  std::deque<Numbers> chains_;
  std::vector<std::uint64_t> expected_;
};

TEST(Policy, KeepsChainsInOrder) {
  const Starpu starpu;
  Chains chains(12);
  chains.submit_links(200);
  chains.expect_right();
}

// All tiles are written, and they do not fit into the second memory, if there is one. Each result must reach the host.
TEST(Policy, LosesNothingThatDoesNotFit) {
  const Environment environment{{"TESSERA_SCHED", "-steal"}};
  const Starpu starpu;
  Chains chains(24, 16384);  // 3 MiB
  for (auto& chain : chains.all()) tessera_sched_suggest_home(chain.handle(), cpus_of_starpu().back());
  chains.submit_links(6);
  chains.expect_right();
}

TEST(Policy, IsRightWithEachOptionSwitchedOff) {
  for (const char* option : {"slots=1", "slots=1024", "window=1", "locality=hits", "-locality", "-chains", "-prefetch",
                             "lookahead=0", "-wait", "-steal", "-decline", "-write-back"}) {
    SCOPED_TRACE(option);
    const Environment environment{{"TESSERA_SCHED", option}};
    const Starpu starpu;
    Chains chains(5);
    chains.submit_links(40);
    chains.expect_right();
  }
}

TEST(Policy, GoesOnAfterAPause) {
  const Starpu starpu;
  Chains chains(6);
  for (int i = 0; i < 10; i++) {
    chains.submit_links(20);
    starpu_pause();
    chains.submit_links(5);
    usleep(2000);
    starpu_resume();
  }
  chains.expect_right();
}

TEST(Policy, RunsTasksAtTheHomeOfTheirTile) {
  const Environment environment{{"TESSERA_SCHED", "-steal"}};
  const Starpu starpu;
  const int home = cpus_of_starpu().back();
  Census census;
  Chains chains(8);
  for (auto& chain : chains.all()) tessera_sched_suggest_home(chain.handle(), home);
  chains.submit_links(10, [&] {
    take_a_while();
    census.here();
  });
  chains.expect_right();
  EXPECT_EQ(census.tasks(), (std::map<int, int>{{home, 80}}));
  EXPECT_EQ(counts().steals, 0);
}

// Each worker stays in its first task until the other has begun one, so no known duration can prevent stealing. Without
// prefetching, because a memory that the waiting worker alone serves receives nothing meanwhile, and a task that
// overwrites a tile waits for requests of that tile.
TEST(Policy, LetsIdleWorkersSteal) {
  const Environment environment{{"TESSERA_SCHED", "-prefetch"}};
  const Starpu starpu;
  const auto cpus = cpus_of_starpu();
  Gate begun, stolen;
  Census census;
  std::deque<Numbers> chains;
  for (int i = 0; i < 60; i++) tessera_sched_suggest_home(chains.emplace_back().handle(), cpus.back());
  for (std::uint64_t term = 0; term < 4; term++)
    for (const auto& chain : chains)
      submit(link_of(chain, term, [&] {
        if (starpu_worker_get_id() == cpus.back()) begun.open(), stolen.wait();
        else stolen.open(), begun.wait();
        census.here();
      }));
  starpu_task_wait_for_all();
  EXPECT_TRUE(begun.was_opened() && stolen.was_opened());
  EXPECT_EQ(census.tasks().size(), cpus.size());
  EXPECT_GT(counts().steals, 0);
  EXPECT_LE(counts().steals, 240);
}

TEST(PolicyStatistics, CountTilesByWhereTheyWere) {
  const Environment environment{{"TESSERA_SCHED", "-steal"}};
  const Starpu starpu;
  if (starpu_memory_nodes_get_count() < 2) GTEST_SKIP() << "one memory: every tile is everywhere";
  const auto cpus = cpus_of_starpu();
  const auto far = std::ranges::find_if(
      cpus, [](int worker) { return starpu_worker_get_memory_node(static_cast<unsigned>(worker)) != STARPU_MAIN_RAM; });
  if (far == cpus.end()) GTEST_SKIP() << "all CPUs are at one memory";
  Numbers chain;
  tessera_sched_suggest_home(chain.handle(), *far);
  for (std::uint64_t i = 0; i < 20; i++) {
    submit(link_of(chain, i));
    starpu_task_wait_for_all();
  }
  EXPECT_EQ(counts().tasks, 20);
  EXPECT_EQ(counts().far_tiles, 1);
  EXPECT_EQ(counts().own_tiles, 19);
}

TEST(PolicyStatistics, AreNotThoseOfAnotherPolicy) {
  const Starpu starpu(1, nullptr);
  tessera_sched_counts counts{};
  EXPECT_EQ(tessera_sched_statistics(0, &counts), -1);
}

}  // namespace
}  // namespace tessera::test::policy_cpp
