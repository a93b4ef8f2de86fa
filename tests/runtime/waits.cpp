// SPDX-License-Identifier: BSD-3-Clause
// Which tasks a wait waits for, and which waits report a failure.
#include <gmock/gmock.h>

#include <starpu.h>
#include <starpu_scheduler.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <tessera/sched.h>
#include <tessera/tessera.h>
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>
#include <tessera/submissions.hpp>

#include "codelets/codelet.hpp"
#include "common/failure.hpp"
#include "support/runtime.hpp"
#include "support/starpu.hpp"
#include "support/tiled.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 8, size = 2 * tile + 1;
const auto* const runtime = share_runtime(with_tile(tile));

/// Until the end of the block, `scale` reports a failure on elements with this value.
class FailingScale {
 public:
  static constexpr double poison = -1234.5;
  FailingScale() : codelet_(codelets::scale('d')), before_(codelet_.cpu_funcs[0]) {
    real = before_;
    codelet_.cpu_funcs[0] = [](void* buffers[], void* arguments) {
      const auto* first = reinterpret_cast<double*>(STARPU_MATRIX_GET_PTR(buffers[0]));
      if (*first == poison) common::report_failure("poisoned");
      else real(buffers, arguments);
    };
  }
  ~FailingScale() { codelet_.cpu_funcs[0] = before_; }
  FailingScale(const FailingScale&) = delete;
  FailingScale& operator=(const FailingScale&) = delete;

 private:
  inline static starpu_cpu_func_t real = nullptr;
  starpu_codelet& codelet_;
  starpu_cpu_func_t before_;
};

class Waits : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu_count() > 0) GTEST_SKIP() << "the tasks that fail here are those of CPUs";
  }
  void TearDown() override { EXPECT_NO_THROW(wait()) << "a failure is left"; }

  const FailingScale failing;
};

void scale(const Matrix<double>& C) { gemm<double>(Op::NoTrans, Op::NoTrans, 0, C, C, 2, C); }
void scale(HostMatrix<double>& C) {
  gemm<double>(Op::NoTrans, Op::NoTrans, C.m(), C.n(), 1, 0, nullptr, C.m(), nullptr, 1, 2, C.data(), C.ld());
}

/// A matrix whose first tile makes `scale` fail.
HostMatrix<double> poisoned() {
  auto C = integer_matrix<double>(1, size, size);
  C(0, 0) = FailingScale::poison;
  return C;
}

TEST_F(Waits, ACallOnPointersReportsOnlyToItsCaller) {
  auto good = integer_matrix<double>(1, size, size), bad = poisoned(), unrelated = good;
  const auto u = tiled(unrelated, {tile, tile});
  Submissions mine;
  EXPECT_THROW(scale(bad), RuntimeError);
  EXPECT_NO_THROW(scale(good));
  EXPECT_NO_THROW(u.wait());
  EXPECT_NO_THROW(mine.wait());
  EXPECT_NO_THROW(wait());
}

TEST_F(Waits, AMatrixReportsFailuresOfItsTilesOnce) {
  auto B = poisoned(), G = integer_matrix<double>(1, size, size);
  const auto bad = tiled(B, {tile, tile}), good = tiled(G, {tile, tile});
  scale(bad), scale(good);
  EXPECT_NO_THROW(good.wait());
  EXPECT_NO_THROW(bad.view(1, 3, 0, 3).wait()) << "the wrong tile is another one";
  EXPECT_THROW(bad.wait(), RuntimeError);
  EXPECT_NO_THROW(bad.wait());
}

TEST_F(Waits, WhatIsComputedFromAWrongTileIsWrong) {
  auto B = poisoned(), X = integer_matrix<double>(1, size, size), Y = X;
  const auto bad = tiled(B, {tile, tile}), x = tiled(X, {tile, tile}), y = tiled(Y, {tile, tile});
  scale(bad);
  gemm<double>(Op::NoTrans, Op::NoTrans, 1, bad, y, 0, x);
  EXPECT_NO_THROW(y.wait());
  EXPECT_NO_THROW(x.view(1, 3, 0, 3).wait()) << "these rows are not";
  EXPECT_THROW(x.wait(), RuntimeError);
  gemm<double>(Op::NoTrans, Op::NoTrans, 1, y, y, 0, bad);  // overwrites it
  EXPECT_NO_THROW(bad.wait());
}

TEST_F(Waits, WaitReportsFailuresThatNoOneHasReceived) {
  {
    auto B = poisoned();
    scale(tiled(B, {tile, tile}));
  }
  EXPECT_THROW(wait(), RuntimeError);
  EXPECT_NO_THROW(wait());
  auto later = integer_matrix<double>(1, size, size);
  EXPECT_NO_THROW(tiled(later, {tile, tile}).wait());
}

TEST_F(Waits, AScopeReportsFailuresOfItsCalls) {
  auto B = poisoned(), G = integer_matrix<double>(1, size, size);
  const auto bad = tiled(B, {tile, tile}), good = tiled(G, {tile, tile});
  Submissions outer;
  {
    Submissions inner;
    scale(good);
    EXPECT_NO_THROW(inner.wait());
  }
  {
    const Submissions inner;
    scale(bad);
  }
  std::async(std::launch::async, [&] {
    Submissions of_another_thread;
    scale(good);
    EXPECT_NO_THROW(of_another_thread.wait());
  }).get();
  EXPECT_THROW(outer.wait(), RuntimeError);
  EXPECT_NO_THROW(outer.wait());
  EXPECT_THROW(bad.wait(), RuntimeError) << "who waits for the matrix is somebody else";
}

TEST_F(Waits, AScopeInC) {
  auto B = poisoned();
  tessera_matrix* bad = nullptr;
  ASSERT_EQ(tessera_matrix_create('d', B.data(), size, size, B.ld(), tile, tile, &bad), TESSERA_SUCCESS);
  tessera_submissions* mine = nullptr;
  ASSERT_EQ(tessera_submissions_begin(&mine), TESSERA_SUCCESS);
  const double zero = 0, two = 2;
  EXPECT_EQ(tessera_gemm_submit(TESSERA_NO_TRANS, TESSERA_NO_TRANS, &zero, bad, bad, &two, bad), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_submissions_wait(mine), TESSERA_RUNTIME_FAILURE);
  EXPECT_STREQ(tessera_last_error(), "poisoned");
  EXPECT_EQ(tessera_submissions_wait(mine), TESSERA_SUCCESS);
  tessera_submissions_end(mine);
  tessera_submissions_end(nullptr);
  EXPECT_EQ(tessera_matrix_destroy(bad), TESSERA_RUNTIME_FAILURE);
  EXPECT_EQ(tessera_submissions_begin(nullptr), -1);
  EXPECT_EQ(tessera_submissions_wait(nullptr), -1);
}

/// Threads that submit tasks until the end of the block, so StarPU is never idle for long.
class SteadyLoad {
 public:
  explicit SteadyLoad(int threads) {
    for (int thread = 0; thread < threads; thread++)
      threads_.emplace_back([this] {
        auto C = integer_matrix<double>(3, size, size);
        auto X = C;
        const auto x = tiled(X, {tile, tile});
        for (int call = 0; !stop_; call++) {
          gemm<double>(Op::NoTrans, Op::NoTrans, C.m(), C.n(), 1, 0, nullptr, C.m(), nullptr, 1, 0, C.data(), C.ld());
          gemm<double>(Op::NoTrans, Op::NoTrans, 0, x, x, 0, x);
          if (call % 64 == 63) x.wait();
          calls_++;
        }
      });
    while (calls_ < 10 * threads) std::this_thread::yield();
  }
  ~SteadyLoad() {
    stop_ = true;
    for (auto& thread : threads_) thread.join();
  }
  SteadyLoad(const SteadyLoad&) = delete;
  SteadyLoad& operator=(const SteadyLoad&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<int> calls_ = 0;
  std::vector<std::thread> threads_;
};

TEST(WaitsUnderLoad, EachWaitReturns) {
  wait();  // for tasks that the program itself has submitted
  const SteadyLoad load(3);
  auto C = integer_matrix<double>(1, size, size), expected = C;
  const auto c = tiled(C, {tile, tile});
  for (int repeat = 0; repeat < 20; repeat++) {
    Submissions mine;
    gemm<double>(Op::NoTrans, Op::NoTrans, 0, c, c, -1, c);
    mine.wait();
    c.wait();
    gemm<double>(Op::NoTrans, Op::NoTrans, 0, c, c, -1, c);
    wait();
    const Runtime another;
  }
  c.wait();
  EXPECT_TRUE(C.equals(expected));
}

TEST(WaitsUnderLoad, OnlyTheSubmitterWaitsForSharedTiles) {
  auto C = integer_matrix<double>(1, size, size);
  const auto c = tiled(C, {tile, tile});
  std::atomic<bool> stop = false;
  std::atomic<int> waits = 0;
  std::vector<std::thread> others;
  for (int thread = 0; thread < 3; thread++)
    others.emplace_back([&] {
      while (!stop) {
        gemm<double>(Op::NoTrans, Op::NoTrans, 0, c, c, 0, c);
        c.wait();
        waits++;
      }
    });
  for (int repeat = 0; repeat < 50; repeat++) c.wait();
  while (waits < 10) std::this_thread::yield();
  stop = true;
  for (auto& other : others) other.join();
}

// One thread submits tasks, including tasks that are not Tessera's, and another waits.
TEST(WaitsUnderLoad, TheProgramsOwnTasksAreWaitedFor) {
  for (int repeat = 0; repeat < 5; repeat++) {
    std::atomic<bool> run = false, done = false;
    submit(task_of([&](void** /*buffers*/) {
      while (!run) std::this_thread::yield();
      done = true;
    }));
    auto waiter = std::async(std::launch::async, [&] {
      wait();
      return done.load();
    });
    run = true;
    EXPECT_TRUE(waiter.get());
  }
}

/// A context with the first CPU worker.
class OwnContext {
 public:
  template <typename... Policy>
  explicit OwnContext(Policy... policy) {
    int worker = 0;
    starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, &worker, 1);
    context_ = starpu_sched_ctx_create(&worker, 1, "own", policy..., 0);
  }
  ~OwnContext() {
    starpu_sched_ctx_set_context(nullptr);
    starpu_sched_ctx_delete(context_);
  }
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;
  unsigned number() const { return context_; }
  /// Tasks of this thread go there from now on.
  void use() { starpu_sched_ctx_set_context(&context_); }

 private:
  unsigned context_ = 0;
};

starpu_task* slow_task(std::atomic<bool>& done) {
  return task_of([&](void** /*buffers*/) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    done = true;
  });
}

class WaitsInContexts : public ::testing::Test {
#ifdef __SANITIZE_THREAD__
  void SetUp() override { GTEST_SKIP() << "StarPU locks two contexts in one order and in the other"; }
#endif
};

TEST_F(WaitsInContexts, CoverTasksOfAnotherPolicy) {
  const OwnContext eager(STARPU_SCHED_CTX_POLICY_NAME, "eager");
  std::atomic<bool> done = false;
  ASSERT_EQ(starpu_task_submit_to_ctx(slow_task(done), eager.number()), 0);
  wait();
  EXPECT_TRUE(done);
}

TEST_F(WaitsInContexts, DoNotDependOnTheContextOfTheThread) {
  OwnContext own(STARPU_SCHED_CTX_POLICY_STRUCT, tessera_sched_policy());
  std::atomic<bool> done = false;
  submit(slow_task(done));
  own.use();
  wait();
  EXPECT_TRUE(done);
  EXPECT_EQ(starpu_sched_ctx_get_context(), own.number());
}

}  // namespace
}  // namespace tessera::test
