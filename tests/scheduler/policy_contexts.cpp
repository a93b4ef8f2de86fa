// SPDX-License-Identifier: BSD-3-Clause
// The policy in several scheduling contexts of StarPU, which workers join and leave.
#include <unistd.h>

#include <atomic>
#include <deque>

#include "support/environment.hpp"
#include "support/starpu.hpp"

/// Called by the address sanitizer. StarPU 1.4 does not free the list of tasks that were pushed to a worker that has
/// left a context.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() { return "leak:_starpu_push_local_task\n"; }

namespace tessera::test::policy_contexts_cpp {
namespace {

/// A scheduling context with the policy.
class Context {
 public:
  explicit Context(std::vector<int> workers)
      : id_(starpu_sched_ctx_create(workers.data(), static_cast<int>(workers.size()), "test",
                                    STARPU_SCHED_CTX_POLICY_STRUCT, tessera_sched_policy(), 0)) {}
  ~Context() { starpu_sched_ctx_delete(id_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  unsigned id() const { return id_; }
  void add(int worker) { starpu_sched_ctx_add_workers(&worker, 1, id_); }
  void remove(int worker) { starpu_sched_ctx_remove_workers(&worker, 1, id_); }
  void wait() const { starpu_task_wait_for_all_in_ctx(id_); }

 private:
  unsigned id_;
};

/// Chains in a context, and their expected results.
class Program {
 public:
  explicit Program(unsigned context) : context_(context), chains_(5), expected_(5) {}

  void submit_links(
      std::uint64_t count, const std::function<void()>& also = [] {}) {
    for (std::uint64_t term = 0; term < count; term++)
      for (std::size_t i = 0; i < chains_.size(); i++) {
        EXPECT_EQ(starpu_task_submit_to_ctx(link_of(chains_[i], term, also), context_), 0);
        expected_[i] = appended(expected_[i], term);
      }
  }
  void expect_right() {
    for (std::size_t i = 0; i < chains_.size(); i++) EXPECT_EQ(chains_[i].value(), expected_[i]) << "chain " << i;
  }

 private:
  unsigned context_;
  std::deque<Numbers> chains_;
  std::vector<std::uint64_t> expected_;
};

TEST(PolicyContexts, RunSideBySide) {
  const Starpu starpu;
  const auto cpus = cpus_of_starpu();
  ASSERT_EQ(cpus.size(), 2);
  const Context left({cpus[0]}), right({cpus[1]});
  Program in_left(left.id()), in_right(right.id()), in_all(0);
  std::atomic<int> strangers = 0;
  const auto only_on = [&](int worker) {
    return [&strangers, worker] { strangers += starpu_worker_get_id() != worker; };
  };
  for (int i = 0; i < 10; i++) {
    in_left.submit_links(10, only_on(cpus[0]));
    in_right.submit_links(10, only_on(cpus[1]));
    in_all.submit_links(10);
  }
  in_left.expect_right(), in_right.expect_right(), in_all.expect_right();
  starpu_task_wait_for_all();
  EXPECT_EQ(strangers, 0);
  EXPECT_EQ(counts(left.id()).tasks, 500);
  EXPECT_EQ(counts(right.id()).tasks, 500);
  EXPECT_EQ(counts(0).tasks, 500);
}

TEST(PolicyContexts, ShareAWorker) {
  const Starpu starpu;
  const auto cpus = cpus_of_starpu();
  const Context both(cpus), one({cpus[0]});
  Program in_both(both.id()), in_one(one.id());
  for (int i = 0; i < 10; i++) in_both.submit_links(10), in_one.submit_links(10);
  in_both.expect_right(), in_one.expect_right();
}

TEST(PolicyContexts, LoseAndGainWorkersWhileTasksRun) {
  const Starpu starpu;
  const auto cpus = cpus_of_starpu();
  ASSERT_EQ(cpus.size(), 2);
  Context context(cpus);
  Program program(context.id());
  for (int i = 0; i < 20; i++) {
    program.submit_links(20, [] { usleep(20); });
    const int moving = cpus[static_cast<std::size_t>(i % 2)];
    context.remove(moving);
    program.submit_links(5);
    context.add(moving);
  }
  program.expect_right();
}

/// Waits for up to a minute.
/// @returns whether all tasks have been executed
bool all_done_soon() {
  for (int i = 0; i < 60000 && starpu_task_nsubmitted() > 0; i++) usleep(1000);
  return starpu_task_nsubmitted() == 0;
}

// When a worker leaves, other workers must run its reserved tasks and the tasks whose home it is, even tasks submitted
// later, and even without stealing.
TEST(PolicyContexts, TakeOverTheTasksOfWorkersThatLeft) {
  for (const char* steal : {"+steal", "-steal"}) {
    SCOPED_TRACE(steal);
    const Environment environment{{"TESSERA_SCHED", steal}};
    const Starpu starpu;
    const auto cpus = cpus_of_starpu();
    for (const int leaves : cpus) {
      Context context(cpus);
      std::deque<Numbers> chains;
      for (int i = 0; i < 12; i++) tessera_sched_suggest_home(chains.emplace_back().handle(), leaves);
      const auto submit_links = [&] {
        for (std::uint64_t term = 0; term < 2; term++)
          for (const auto& chain : chains)
            EXPECT_EQ(starpu_task_submit_to_ctx(link_of(chain, term, take_a_while), context.id()), 0);
      };
      submit_links();
      context.remove(leaves);
      EXPECT_TRUE(all_done_soon()) << starpu_task_nsubmitted() << " tasks of worker " << leaves << " are left";
      submit_links();
      EXPECT_TRUE(all_done_soon()) << starpu_task_nsubmitted() << " tasks of later are left";
      context.add(leaves);
    }
  }
}

// Tasks submitted to a context without workers run once it has one.
TEST(PolicyContexts, WaitForTheirFirstWorker) {
  const Starpu starpu;
  const auto cpus = cpus_of_starpu();
  Context context({cpus[0]});
  context.remove(cpus[0]);
  Program program(context.id());
  program.submit_links(20);
  context.add(cpus[0]);
  program.expect_right();
}

TEST(PolicyContexts, LeaveTheirWorkersToAnother) {
  const Starpu starpu;
  const auto cpus = cpus_of_starpu();
  Program after(0);
  for (int i = 0; i < 10; i++) {
    Context context(cpus);
    Program program(context.id());
    program.submit_links(10);
    program.expect_right();
    context.wait();
  }
  after.submit_links(20);
  after.expect_right();
}

}  // namespace
}  // namespace tessera::test::policy_contexts_cpp
