// SPDX-License-Identifier: BSD-3-Clause
// Codelets with several implementations, some of which they refuse.
#include <gmock/gmock.h>

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/starpu.hpp"

namespace tessera::test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

/// A codelet with two implementations. A test sets which of them each worker accepts.
class TwoImplementations : public ::testing::Test {
 protected:
  TwoImplementations() { current_ = this; }
  ~TwoImplementations() override { current_ = nullptr; }

  /// A task that records which implementation ran on which worker, then does its work.
  starpu_task* task(
      const Numbers& tile, Work work = [](void**) {}) {
    static starpu_codelet codelet = [] {
      auto c = *work_codelet();
      c.cpu_funcs[0] = [](void* buffers[], void* what) { current_->run(0, buffers, what); };
      c.cpu_funcs[1] = [](void* buffers[], void* what) { current_->run(1, buffers, what); };
      c.can_execute = [](unsigned worker, starpu_task*, unsigned number) {
        return current_->accepts_(static_cast<int>(worker), number) ? 1 : 0;
      };
      return c;
    }();
    auto* task = task_of(std::move(work), {{tile.handle(), STARPU_RW}});
    task->cl = &codelet;
    return task;
  }
  /// Which implementations ran on each worker.
  std::map<int, std::set<unsigned>> ran() {
    starpu_task_wait_for_all();
    const std::scoped_lock lock(mutex_);
    return ran_;
  }
  int a() const { return cpus_of_starpu().front(); }
  int b() const { return cpus_of_starpu().back(); }

  std::function<bool(int worker, unsigned number)> accepts_ = [](int, unsigned) { return true; };

 private:
  void run(unsigned number, void* buffers[], void* work) {
    {
      const std::scoped_lock lock(mutex_);
      ran_[starpu_worker_get_id()].insert(number);
    }
    (*static_cast<Work*>(work))(buffers);
  }

  static TwoImplementations* current_;
  std::mutex mutex_;
  std::map<int, std::set<unsigned>> ran_;
};

TwoImplementations* TwoImplementations::current_ = nullptr;

TEST_F(TwoImplementations, TheFirstRunsIfBothAreAccepted) {
  const Starpu starpu(1);
  const Numbers tile;
  submit(task(tile));
  EXPECT_THAT(ran(), ElementsAre(Pair(a(), ElementsAre(0U))));
}

TEST_F(TwoImplementations, ARefusedOneNeverRuns) {
  accepts_ = [](int, unsigned number) { return number == 1; };
  const Starpu starpu(1);
  const Numbers tile;
  for (int i = 0; i < 20; i++) submit(task(tile));
  EXPECT_THAT(ran(), ElementsAre(Pair(a(), ElementsAre(1U))));
}

// Each worker accepts a different implementation, and stays in its first task until the other worker has begun one.
// Without prefetching, for the reason at `LetsIdleWorkersSteal`.
TEST_F(TwoImplementations, AStolenTaskRunsTheOneThatTheThiefAccepts) {
  const Environment environment{{"TESSERA_SCHED", "-prefetch"}};
  const Starpu starpu;
  const int first = a(), last = b();
  accepts_ = [=](int worker, unsigned number) { return number == (worker == last ? 1U : 0U); };
  Gate begun, stolen;
  std::deque<Numbers> tiles;
  for (int i = 0; i < 60; i++) tessera_sched_suggest_home(tiles.emplace_back().handle(), last);
  for (const auto& tile : tiles)
    submit(task(tile, [&](void**) {
      if (starpu_worker_get_id() == last) begun.open(), stolen.wait();
      else stolen.open(), begun.wait();
    }));
  EXPECT_THAT(ran(), ElementsAre(Pair(first, ElementsAre(0U)), Pair(last, ElementsAre(1U))));
  EXPECT_GT(counts().steals, 0);
}

TEST_F(TwoImplementations, TheCodeletMayChangeItsMindUntilTheTaskRuns) {
  const Starpu starpu(1);
  const Numbers tile;
  std::atomic<unsigned> accepted = 0;
  accepts_ = [&](int, unsigned number) { return number == accepted; };
  starpu_pause();
  submit(task(tile));
  accepted = 1;
  starpu_resume();
  EXPECT_THAT(ran(), ElementsAre(Pair(a(), ElementsAre(1U))));
}

TEST_F(TwoImplementations, AnotherWorkerRunsATaskThatItsHomeRefuses) {
  const Environment environment{{"TESSERA_SCHED", "-steal"}};
  const Starpu starpu;
  const int other = a();
  const Numbers tile;
  tessera_sched_suggest_home(tile.handle(), b());
  std::atomic<bool> only_the_other = false;
  accepts_ = [&](int worker, unsigned) { return !only_the_other || worker == other; };
  starpu_pause();
  submit(task(tile));
  only_the_other = true;
  starpu_resume();
  EXPECT_THAT(ran(), ElementsAre(Pair(other, ElementsAre(0U))));
}

TEST_F(TwoImplementations, ATaskRunsWhenItsCodeletAcceptsAWorker) {
  const Starpu starpu;
  const Numbers tile;
  Gate refuses;
  std::atomic<int> asked = 0;
  std::atomic<bool> refusing = false;
  accepts_ = [&](int, unsigned) {
    if (!refusing) return true;
    asked++;
    return false;
  };
  submit(link_of(tile, 1, [&] { refuses.wait(); }));
  submit(task(tile));
  refusing = true;
  refuses.open();
  constexpr int of_a_push = 4;  // each worker is asked about each implementation
  while (asked < of_a_push) usleep(100);
  refusing = false;
  EXPECT_THAT(ran(), SizeIs(1));
}

}  // namespace
}  // namespace tessera::test
