// SPDX-License-Identifier: BSD-3-Clause
// No thread that Tessera or its libraries start takes the program's signals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include <tessera/blas.hpp>
#include <tessera/runtime.hpp>

#include "devices/cpu/host_blas.hpp"
#include "devices/gpu.hpp"
#include "devices/opencl/opencl.hpp"
#include "runtime/progress/ticker.hpp"
#include "support/signals.hpp"

namespace tessera {
namespace {

using test::threads_now;
using test::threads_that_take_signals;

/// The threads that the loader has started before any code of this program runs.
const auto threads_at_load = threads_that_take_signals();

void compute() {
  constexpr Index n = 200;
  const std::vector<double> A(n * n, 1);
  std::vector<double> C(n * n);
  gemm<double>(Op::NoTrans, Op::NoTrans, n, n, n, 1, A.data(), n, A.data(), n, 0, C.data(), n);
  EXPECT_EQ(C.front(), n);
}

/// OpenBLAS starts threads if it finds several cores.
TEST(QuietThreads, AreThoseOfALinkedOpenBlas) { EXPECT_THAT(threads_at_load, ::testing::IsEmpty()); }

TEST(QuietThreads, AreThoseThatOpenBlasStartsLater) {
  const int before = device::cpu::threads();
  device::cpu::set_threads(before + 2);
  if (device::cpu::threads() == before + 2) {
    EXPECT_GT(threads_now().size(), 1U);
  }
  EXPECT_THAT(threads_that_take_signals(), ::testing::IsEmpty());
  device::cpu::set_threads(before);
}

TEST(QuietThreads, AreThoseOfARuntime) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const Runtime runtime;
  const runtime::Ticker ticker([] {});
  EXPECT_GT(threads_now().size(), 2U) << "workers, and the one that shows the progress";
  EXPECT_THAT(threads_that_take_signals(), ::testing::IsEmpty());
  compute();
  EXPECT_THAT(threads_that_take_signals(), ::testing::IsEmpty()) << "after a call";
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGTERM), 0);
  for (const int signal : {SIGTERM, SIGINT, SIGALRM, SIGUSR1})
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << "of the program's own thread";
}

TEST(QuietThreads, AreThoseOfDriversThatListDevices) {
  device::opencl::probe(-1, device::opencl::Kinds::All);
  device::gpu::probe(-1);
  EXPECT_THAT(threads_that_take_signals(), ::testing::IsEmpty());
}

/// The usual structure of a server: compute something, then let one thread wait for the signal that ends it.
TEST(QuietThreads, LeaveASignalToTheThreadThatWaitsForIt) {
  compute();
  sigset_t end, before;
  sigemptyset(&end), sigaddset(&end, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &end, &before);
  EXPECT_THAT(threads_that_take_signals(), ::testing::IsEmpty());
  if (!HasFailure()) {  // otherwise the signal would end this process
    kill(getpid(), SIGTERM);
    int got = 0;
    sigwait(&end, &got);
    EXPECT_EQ(got, SIGTERM);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// A fault concerns the thread that causes it, for which the program may have a handler.
TEST(QuietThreads, KeepTheirFaults) {
  compute();
  for (const pid_t thread : threads_now()) {
    if (thread == getpid()) continue;
    std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("SigBlk:")) {
        EXPECT_EQ(std::stoull(line.substr(8), nullptr, 16) & (std::uint64_t{1} << (SIGSEGV - 1)), 0U);
      }
  }
}

}  // namespace
}  // namespace tessera
