// SPDX-License-Identifier: BSD-3-Clause
// A program that uses StarPU itself and knows nothing of Tessera. It starts StarPU before or after its first BLAS call.
#include <starpu.h>

#include <atomic>

#include "products.hpp"

namespace tessera::test {
namespace {

constexpr int size = 150;

void start_starpu() {
  setenv("STARPU_SILENT", "1", 1);  // otherwise StarPU warns if two workers share a core
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 2;
  conf.ncuda = 0;
  conf.catch_signals = 0;
  conf.sched_policy_name = "eager";
  require(starpu_init(&conf) == 0, "starpu_init");
}

std::atomic<int> done;

/// Runs tasks of the program, each of which calls `work`.
void compute_tasks(int count, void (*work)(void*[], void*)) {
  static starpu_codelet codelet;
  codelet = {};
  codelet.cpu_funcs[0] = work;
  codelet.cpu_funcs_name[0] = "work";
  codelet.nbuffers = 0;
  done = 0;
  for (int i = 0; i < count; i++) {
    auto* const task = starpu_task_create();
    task->cl = &codelet;
    require(starpu_task_submit(task) == 0, "starpu_task_submit");
  }
  require(starpu_task_wait_for_all() == 0, "starpu_task_wait_for_all");
  require(done == count, "tasks are left out");
}
void count(void*[], void*) { done++; }
void multiply(void*[], void*) {
  require(product_is_right(100), "the product of a task");
  done++;
}

const Scenario before{"StarPU before us", [] {
                        start_starpu();
                        compute_tasks(50, count);
                        require(product_is_right(size), "the first product");
                        compute_tasks(50, count);
                        require(solution_is_right(size), "the solution");
                        starpu_shutdown();
                        require(product_is_right(size), "the product after");
                        return 4;
                      }};

TEST(StarpuProgram, StartedBeforeTheDropInIsJoined) {
  const auto ended = before.run();
  EXPECT_TRUE(has_ended_silently(ended, 4));
  EXPECT_EQ(ended.calls("devices"), 3) << ended;
}

const Scenario after{"StarPU after us", [] {
                       require(product_is_right(size), "the first product");
                       start_starpu();
                       compute_tasks(50, count);
                       require(product_is_right(size), "the second product");
                       compute_tasks(50, count);
                       starpu_shutdown();
                       require(product_is_right(size), "the third product");
                       return 4;
                     }};

TEST(StarpuProgram, StartedAfterTheDropInSharesItsWorkers) {
  const auto ended = after.run();
  EXPECT_TRUE(has_ended_silently(ended, 4));
  EXPECT_EQ(ended.calls("devices"), 3) << ended;
}

const Scenario pauses{"StarPU after us, with pauses of its own", [] {
                        require(product_is_right(size), "the first product");
                        start_starpu();
                        compute_tasks(5, count);
                        starpu_pause();
                        starpu_resume();
                        compute_tasks(5, count);
                        starpu_shutdown();
                        return 4;
                      }};

TEST(StarpuProgram, MayPauseByItself) { EXPECT_TRUE(has_ended_silently(pauses.run(), 4)); }

const Scenario idle{"StarPU after us, no tasks", [] {
                      require(product_is_right(size), "the first product");
                      start_starpu();
                      starpu_shutdown();
                      require(product_is_right(size), "the second product");
                      return 4;
                    }};

TEST(StarpuProgram, NeedNotComputeAnything) { EXPECT_TRUE(has_ended_silently(idle.run(), 4)); }

const Scenario unfinished{"StarPU still runs at the exit", [] {
                            require(product_is_right(size), "the first product");
                            start_starpu();
                            compute_tasks(5, count);
                            return 4;
                          }};

TEST(StarpuProgram, MayForgetToShutDown) { EXPECT_TRUE(has_ended_silently(unfinished.run(), 4)); }

const Scenario first_in_task{"our first call is in a task", [] {
                               start_starpu();
                               compute_tasks(20, multiply);
                               require(product_is_right(size), "the product after");
                               compute_tasks(20, multiply);
                               starpu_shutdown();
                               return 4;
                             }};

TEST(StarpuProgram, TaskThatCallsABlasGetsTheHostBlas) {
  const auto ended = first_in_task.run();
  EXPECT_TRUE(has_ended_silently(ended, 4));
  EXPECT_EQ(ended.calls("devices"), 1) << ended;
}

const Scenario later_in_task{"a task calls us after we have started StarPU", [] {
                               require(product_is_right(size), "the first product");
                               start_starpu();
                               compute_tasks(20, multiply);
                               require(product_is_right(size), "the product after");
                               starpu_shutdown();
                               return 4;
                             }};

TEST(StarpuProgram, TaskThatCallsABlasOnOurWorkers) {
  const auto ended = later_in_task.run();
  EXPECT_TRUE(has_ended_silently(ended, 4));
  EXPECT_EQ(ended.calls("devices"), 2) << ended;
}

}  // namespace
}  // namespace tessera::test
