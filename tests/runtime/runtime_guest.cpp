// SPDX-License-Identifier: BSD-3-Clause
// The runtime as a guest in the caller's process: it leaves the caller's state unchanged.
#include <gmock/gmock.h>
#include <signal.h>
#include <starpu.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include <tessera/tessera.h>
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

#include "devices/cpu/host_blas.hpp"
#include "devices/cpu/one_thread.hpp"
#include "runtime/process_session.hpp"
#include "runtime/running_calls.hpp"
#include "runtime/session.hpp"
#include "support/oracle.hpp"

namespace tessera::test {
namespace {

template <Scalar T>
void compute(std::uint64_t seed, Index size) {
  const auto A = integer_matrix<T>(seed, size, size), B = integer_matrix<T>(seed + 1, size, size);
  auto C = integer_matrix<T>(seed + 2, size, size), expected = C;
  gemm<T>(Op::NoTrans, Op::Trans, size, size, size, T(1), A.data(), A.ld(), B.data(), B.ld(), T(1), C.data(), C.ld());
  host_product<T>({Op::NoTrans, Op::Trans, T(1), A, B, T(1)}, expected);
  EXPECT_TRUE(C.equals(expected)) << size;
}

TEST(CleanGuest, InstallsNoSignalHandlers) {
  constexpr std::array signals{SIGINT, SIGTERM, SIGSEGV, SIGABRT, SIGFPE, SIGILL,
                               SIGBUS, SIGHUP,  SIGPIPE, SIGUSR1, SIGCHLD};
  const auto handlers = [&] {
    std::vector<void (*)(int)> all;
    for (const int signal : signals) {
      struct sigaction action {};
      sigaction(signal, nullptr, &action);
      all.push_back(action.sa_handler);
    }
    return all;
  };
  const auto before = handlers();
  {
    const Runtime runtime;
    compute<double>(1, 50);
    EXPECT_EQ(handlers(), before);
  }
  EXPECT_EQ(handlers(), before);
}

TEST(CleanGuest, PrintsNothing) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  {
    const Runtime runtime;
    compute<double>(1, 300);
    (void)devices();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(CleanGuest, LeavesTheEnvironmentAlone) {
  const auto variables = [] {
    std::vector<std::string> all;
    for (char** variable = environ; *variable != nullptr; variable++) all.emplace_back(*variable);
    return all;
  };
  const auto before = variables();
  {
    const Runtime runtime;
    EXPECT_THAT(variables(), ::testing::UnorderedElementsAreArray(before));
  }
  EXPECT_THAT(variables(), ::testing::UnorderedElementsAreArray(before));
}

/// A call from which a signal handler jumped out while it submitted tasks.
TEST(Exit, IsNotHeldUpByACallThatNeverEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const auto session = runtime::session();
        static const auto* const call = new runtime::Call(session->calls(), session->shares(), false, false);
        EXPECT_NE(call, nullptr);
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

class ThreadsOfOpenBlas : public ::testing::TestWithParam<int> {
 protected:
  ThreadsOfOpenBlas() { device::cpu::set_threads(GetParam()); }
  ~ThreadsOfOpenBlas() override { device::cpu::set_threads(before_); }
  void SetUp() override {
    if (device::cpu::threads() != GetParam()) GTEST_SKIP() << "this CBLAS has one thread";
  }

 private:
  int before_ = device::cpu::threads();
};

TEST_P(ThreadsOfOpenBlas, AreTheProgramsWheneverNoTaskRuns) {
  {
    const Runtime runtime;
    EXPECT_EQ(device::cpu::threads(), GetParam());
    compute<double>(1, 50);
    EXPECT_EQ(device::cpu::threads(), GetParam()) << "after a call";
  }
  EXPECT_EQ(device::cpu::threads(), GetParam()) << "after the Runtime";
}

TEST_P(ThreadsOfOpenBlas, AreTheProgramsAfterAnAutomaticStart) {
  compute<double>(1, 50);
  EXPECT_EQ(device::cpu::threads(), GetParam());
  EXPECT_EQ(tessera_finalize(), TESSERA_SUCCESS) << tessera_last_error();
  EXPECT_EQ(device::cpu::threads(), GetParam());
  EXPECT_EQ(tessera_finalize(), TESSERA_RUNTIME_FAILURE) << "nothing is left";
}

INSTANTIATE_TEST_SUITE_P(Several, ThreadsOfOpenBlas, ::testing::Values(2, 3));

/// The number of threads that a tile sees, and that the program sees if it sets the number while a tile is computed.
TEST(OneThread, LastsUntilTheLastHolderReleasesIt) {
  const int before = device::cpu::threads();
  device::cpu::set_threads(3);
  if (device::cpu::threads() != 3) GTEST_SKIP() << "this CBLAS has one thread";
  {
    std::optional<device::cpu::OneThread> first(std::in_place), second(std::in_place);
    EXPECT_EQ(device::cpu::threads(), 1);
    first.reset();
    EXPECT_EQ(device::cpu::threads(), 1) << "the second one is left";
    second.reset();
    EXPECT_EQ(device::cpu::threads(), 3);
  }
  {
    const device::cpu::OneThread tile;
    device::cpu::set_threads(2);
  }
  EXPECT_EQ(device::cpu::threads(), 2) << "the program has set it";
  device::cpu::set_threads(before);
}

TEST(OneThread, IsNotInheritedByAForkedChild) {
  compute<double>(1, 50);  // registers the handlers of fork
  const int before = device::cpu::threads();
  device::cpu::set_threads(3);
  if (device::cpu::threads() != 3) GTEST_SKIP() << "this CBLAS has one thread";
  pid_t child = -1;
  {
    const device::cpu::OneThread tile;
    child = fork();
    if (child == 0) _exit(device::cpu::threads());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  device::cpu::set_threads(before);
  EXPECT_EQ(tessera_finalize(), TESSERA_SUCCESS);
}

TEST(OneThread, IsRightWhereManyComeAndGo) {
  const int before = device::cpu::threads();
  device::cpu::set_threads(2);
  if (device::cpu::threads() != 2) GTEST_SKIP() << "this CBLAS has one thread";
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> workers;
    for (int w = 0; w < 4; w++)
      workers.emplace_back([&] {
        for (int i = 0; i < 20000; i++) {
          const device::cpu::OneThread tile;
          if (device::cpu::threads() != 1) wrong++;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device::cpu::threads(), 2);
  device::cpu::set_threads(before);
}

void start_starpu() {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 1;
  conf.ncuda = 0;
  conf.sched_policy_name = "eager";
  conf.catch_signals = 0;
  ASSERT_EQ(starpu_init(&conf), 0);
}

TEST(CleanGuest, JoinsAStarpuThatRunsAndLeavesItRunning) {
  if (std::getenv("TESSERA_TEST_NEEDS_GPUS")) GTEST_SKIP() << "StarPU would calibrate the GPUs for itself";
  start_starpu();
  for (int repeat = 0; repeat < 2; repeat++) {
    const Runtime runtime;
    EXPECT_TRUE(runtime.joined());
    EXPECT_EQ(policy(), "eager");
    EXPECT_EQ(cpu_workers(), 1);
    compute<std::complex<float>>(1, 50);
  }
  EXPECT_EQ(starpu_is_initialized(), 1);
  EXPECT_EQ(starpu_task_wait_for_all(), 0);
  starpu_shutdown();
  EXPECT_EQ(starpu_is_initialized(), 0);
}

TEST(CleanGuest, ReleasesAStarpuThatItCouldNotJoin) {
  if (std::getenv("TESSERA_TEST_NEEDS_GPUS")) GTEST_SKIP() << "StarPU would calibrate the GPUs for itself";
  start_starpu();
  RuntimeOptions options;
  options.tile = -1;
  EXPECT_THROW(Runtime{options}, ArgumentError);
  starpu_shutdown();
  EXPECT_EQ(starpu_is_initialized(), 0);
  while (starpu_is_initialized() != 0) starpu_shutdown();
}

TEST(ManyThreads, ComputeAtTheSameTime) {
  const Runtime runtime;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; t++)
    threads.emplace_back([t] {
      for (std::uint64_t repeat = 0; repeat < 25; repeat++) {
        compute<double>(100 * t + repeat, 30 + static_cast<Index>(10 * t));
        compute<std::complex<float>>(100 * t + repeat, 20);
      }
    });
  for (auto& thread : threads) thread.join();
}

TEST(ManyThreads, ShareAnInput) {
  const Runtime runtime;
  constexpr Index size = 60;
  const auto A = integer_matrix<double>(1, size, size);
  const Matrix<double> shared(A.data(), size, size, A.ld(), {16, 16});
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      auto C = integer_matrix<double>(10 + t, size, size), expected = C;
      {
        const Matrix<double> c(C.data(), size, size, C.ld(), {16, 16});
        for (int repeat = 0; repeat < 10; repeat++) gemm<double>(Op::NoTrans, Op::NoTrans, 1, shared, shared, 1, c);
        c.wait();
      }
      for (int repeat = 0; repeat < 10; repeat++)
        host_product<double>({Op::NoTrans, Op::NoTrans, 1, A, A, 1}, expected);
      EXPECT_TRUE(C.equals(expected));
    });
  for (auto& thread : threads) thread.join();
}

TEST(ManyThreads, StartTheRuntimeTogether) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([] {
      const Runtime runtime;
      compute<float>(1, 40);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(starpu_is_initialized(), 0);
}

}  // namespace
}  // namespace tessera::test
