// SPDX-License-Identifier: BSD-3-Clause
// The counts of running calls, from one thread and from several.
#include "runtime/progress/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include <tessera/blas.hpp>

#include "held_product.hpp"
#include "set_clock.hpp"
#include "support/runtime.hpp"
#include "support/starpu.hpp"

namespace tessera::test::counting_cpp {
namespace {

using runtime::progress_now, runtime::ProgressWatch;
using namespace std::chrono_literals;

Runtime started() {
  auto options = with_tile(10);
  options.cpus = 2, options.gpus = 0;
  return Runtime(options);
}

TEST(Progress, CountsACall) {
  const auto runtime = started();
  const ProgressWatch watch;
  SetClock clock;
  const auto before = progress_now();
  HeldProduct product;
  const auto held = progress_now();
  EXPECT_GT(held.period, before.period);
  EXPECT_TRUE(held.running);
  EXPECT_FALSE(held.submitting);
  EXPECT_EQ(held.tasks, HeldProduct::tasks);
  EXPECT_EQ(held.flops, HeldProduct::flops);
  EXPECT_EQ(held.tasks_done, 0);
  EXPECT_EQ(held.flops_done, 0);
  clock.advance(7s);
  EXPECT_EQ(progress_now().seconds, 7);
  product.finish();
  const auto done = progress_now();
  EXPECT_EQ(done.period, held.period);
  EXPECT_FALSE(done.running);
  EXPECT_EQ(done.tasks_done, HeldProduct::tasks);
  EXPECT_EQ(done.flops_done, HeldProduct::flops);
  EXPECT_EQ(done.seconds, 7);
  clock.advance(1s);
  EXPECT_EQ(progress_now().seconds, 7) << "the period ends with the last task";
}

TEST(Progress, TreatsOverlappingCallsAsOnePeriod) {
  const auto runtime = started();
  const ProgressWatch watch;
  HeldProduct first;
  const auto period = progress_now().period;
  HeldProduct second;
  EXPECT_EQ(progress_now().tasks, 2 * HeldProduct::tasks);
  EXPECT_EQ(progress_now().period, period);
  first.let_go();
  second.finish();
  EXPECT_EQ(progress_now().tasks_done, 2 * HeldProduct::tasks);
  EXPECT_EQ(progress_now().period, period);
}

TEST(Progress, StartsAnewWhenNothingWasLeft) {
  const auto runtime = started();
  const ProgressWatch watch;
  { HeldProduct first; }
  const auto period = progress_now().period;
  HeldProduct second;
  EXPECT_EQ(progress_now().period, period + 1);
  EXPECT_EQ(progress_now().tasks, HeldProduct::tasks);
}

TEST(Progress, IsNotCountedUnlessWatched) {
  const auto runtime = started();
  const auto before = progress_now();
  HeldProduct product;
  EXPECT_EQ(progress_now().period, before.period);
  const ProgressWatch late;  // starts after the call, which is therefore not counted
  EXPECT_FALSE(progress_now().running);
  product.finish();
  EXPECT_EQ(progress_now().period, before.period);
  HeldProduct next;
  EXPECT_EQ(progress_now().period, before.period + 1);
}

TEST(Progress, LeavesTheProgramsOwnTasksAlone) {
  const auto runtime = started();
  const ProgressWatch watch;
  std::atomic<bool> go{false};
  HeldProduct product;
  submit(task_of([&](void**) { go.wait(false); }));
  EXPECT_EQ(progress_now().tasks, HeldProduct::tasks);
  go = true;
  go.notify_all();
  product.finish();
  EXPECT_EQ(progress_now().tasks_done, HeldProduct::tasks);
}

TEST(Progress, TakesBackWhatIsRefused) {
  const ProgressWatch watch;
  starpu_task task{};
  task.flops = 100;
  {
    const runtime::CountedCall call;
    call.count(task);
    EXPECT_TRUE(progress_now().submitting);
    EXPECT_EQ(progress_now().tasks, 1);
    EXPECT_EQ(progress_now().flops, 100);
    call.take_back(task);
    EXPECT_EQ(progress_now().tasks, 0);
    EXPECT_EQ(progress_now().flops, 0);
  }
  EXPECT_FALSE(progress_now().running);
}

TEST(Progress, RemembersTheLastLongPeriod) {
  const auto runtime = started();
  const ProgressWatch watch;
  SetClock clock;
  std::uint64_t period = 0;
  {
    HeldProduct product;
    clock.advance(1s);
    period = progress_now().period;
  }
  {
    HeldProduct quick;
    clock.advance(999ms);
  }
  const auto last = runtime::last_long_progress();
  EXPECT_EQ(last.period, period);
  EXPECT_FALSE(last.running);
  EXPECT_EQ(last.tasks_done, HeldProduct::tasks);
  EXPECT_EQ(last.seconds, 1);
}

TEST(Progress, NeverExceedsTheTotal) {
  const auto runtime = started();
  const ProgressWatch watch;
  constexpr Index n = 30;  // 27 tasks
  std::atomic<bool> over{false};
  auto looks = std::async(std::launch::async, [&] {
    std::uint64_t count = 0;
    do {
      const auto now = progress_now();
      EXPECT_LE(now.tasks_done, now.tasks);
      EXPECT_LE(now.flops_done, now.flops);
      EXPECT_TRUE(now.running || now.tasks_done == now.tasks);
      count++;
    } while (!over);
    return count;
  });
  std::vector<std::future<void>> callers;
  for (int caller = 0; caller < 3; caller++)
    callers.push_back(std::async(std::launch::async, [] {
      const std::vector<double> A(n * n), B(n * n);
      std::vector<double> C(n * n);
      for (int call = 0; call < 50; call++)
        gemm<double>(Op::NoTrans, Op::NoTrans, n, n, n, 1, A.data(), n, B.data(), n, 0, C.data(), n);
    }));
  for (auto& caller : callers) caller.get();
  over = true;
  EXPECT_GT(looks.get(), 0);
  const auto end = progress_now();
  EXPECT_FALSE(end.running);
  EXPECT_EQ(end.tasks_done, end.tasks);
  EXPECT_EQ(end.tasks % 27, 0);
  EXPECT_GT(end.tasks, 0);
}

}  // namespace
}  // namespace tessera::test::counting_cpp
