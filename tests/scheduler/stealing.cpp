// SPDX-License-Identifier: BSD-3-Clause
// Which worker is the victim of a steal. The environment in CMakeLists.txt provides three workers with a common memory.
#include <gmock/gmock.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/starpu.hpp"

namespace tessera::test {
namespace {

using ::testing::Each;

/// Tasks with one tile each. Records the home and the worker of each task, in the order in which they ran.
class Homes {
 public:
  struct Run {
    int home, worker;
  };

  /// @param then  what each task does after recording its worker
  void submit_tasks(int count, int home, bool only_there, std::function<void(int worker)> then) {
    for (int i = 0; i < count; i++) {
      tessera_sched_suggest_home(tiles_.emplace_back().handle(), home);
      auto* task = link_of(tiles_.back(), 1, [this, home, then] {
        const int worker = starpu_worker_get_id();
        {
          const std::scoped_lock lock(mutex_);
          runs_.push_back({home, worker});
        }
        then(worker);
      });
      submit(only_there ? only_on(home, task) : task);
    }
  }
  std::vector<Run> runs() const {
    const std::scoped_lock lock(mutex_);
    return runs_;
  }
  std::vector<int> homes_of_what_was_stolen() const {
    std::vector<int> homes;
    for (const auto& run : runs())
      if (run.worker != run.home) homes.push_back(run.home);
    return homes;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Numbers> tiles_;
  std::vector<Run> runs_;
};

class Stealing : public ::testing::Test {
 protected:
  Stealing() { cpus_ = cpus_of_starpu(); }
  void SetUp() override { ASSERT_EQ(cpus_.size(), 3); }

  const Starpu starpu_{3};
  std::vector<int> cpus_;
};

// The other two workers stay in their first task until the thief has stolen the difference between the lengths of their
// queues.
TEST_F(Stealing, TakesFromTheFullest) {
  const int thief = cpus_[0], fuller = cpus_[1], other = cpus_[2];
  constexpr int in_fuller = 30, in_other = 5, difference = in_fuller - in_other - 2;  // each has begun at most one
  Gate stolen;
  std::atomic<int> by_thief = 0;
  const auto run = [&](int worker) {
    if (worker != thief) stolen.wait();
    else if (++by_thief == difference) stolen.open();
  };
  Homes homes;
  starpu_pause();
  homes.submit_tasks(in_fuller, fuller, false, run);  // first, since workers may begin before they pause
  homes.submit_tasks(in_other, other, false, run);
  starpu_resume();
  starpu_task_wait_for_all();
  EXPECT_TRUE(stolen.was_opened());
  auto first = homes.homes_of_what_was_stolen();
  ASSERT_GE(first.size(), difference);
  EXPECT_EQ(counts().steals, first.size());
  first.resize(difference);
  EXPECT_THAT(first, Each(fuller));
}

TEST_F(Stealing, LeavesWhatOnlyTheOtherMayRun) {
  const int victim = cpus_[1];
  constexpr int free = 10;
  Gate stolen;
  std::atomic<int> by_others = 0;
  const auto run = [&](int worker) {
    if (worker == victim) stolen.wait();
    else if (++by_others == free) stolen.open();
  };
  Homes homes;
  starpu_pause();
  homes.submit_tasks(20, victim, true, run);  // the first of them holds up the victim
  homes.submit_tasks(free, victim, false, run);
  starpu_resume();
  starpu_task_wait_for_all();
  EXPECT_TRUE(stolen.was_opened());
  EXPECT_EQ(homes.homes_of_what_was_stolen().size(), free);
  EXPECT_EQ(counts().steals, free);
}

TEST(StealingSwitchedOff, IsNotCounted) {
  const Environment environment{{"TESSERA_SCHED", "-steal"}};
  const Starpu starpu(3);
  Homes homes;
  homes.submit_tasks(30, cpus_of_starpu().back(), false, [](int) {});
  starpu_task_wait_for_all();
  EXPECT_TRUE(homes.homes_of_what_was_stolen().empty());
  EXPECT_EQ(counts().steals, 0);
}

}  // namespace
}  // namespace tessera::test
