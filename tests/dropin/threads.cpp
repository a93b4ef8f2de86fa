// SPDX-License-Identifier: BSD-3-Clause
// Eight threads and several processes that compute at the same time, with different routines and sizes. All results are
// right, there is no deadlock, and memory does not grow.
#include <malloc.h>

#include <atomic>
#include <iostream>
#include <thread>

#include "products.hpp"

namespace tessera::test::threads_cpp {
namespace {

constexpr unsigned thread_count_of_program = 8;

/// Makes a call with a random routine and size, and checks the result.
bool mixed_call_is_right(std::uint64_t seed, int largest) {
  std::mt19937_64 random(seed);
  const int n = 1 + static_cast<int>(random() % static_cast<unsigned>(largest));
  switch (random() % 3) {
  case 0: return product_is_right(n, seed);
  case 1: return update_is_right(n, seed);
  default: return solution_is_right(n, seed);
  }
}

/// @param each  called with the number of calls so far, after each call
template <typename Each>
void compute_in_threads(int calls_of_each, int largest, Each each) {
  std::atomic<int> calls = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < thread_count_of_program; t++)
    threads.emplace_back([&, t] {
      for (int i = 0; i < calls_of_each; i++) {
        require(mixed_call_is_right(1000000 * t + static_cast<unsigned>(i), largest), "a result");
        each(++calls);
      }
    });
  for (auto& thread : threads) thread.join();
}

const Scenario together{"eight threads at once", [] {
                          compute_in_threads(50, 200, [](int) {});
                          return 0;
                        }};

TEST(Threads, AreRightTogether) {
  const auto ended = together.run();
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 400) << ended;
}

TEST(Threads, AreRightIfSomeCallsStayOnTheHost) {
  const auto ended = together.run({{"TESSERA_BLAS_MIN_FLOPS", "5e5"}});
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices") + ended.calls("host"), 400);
  EXPECT_GT(ended.calls("devices"), 50);
  EXPECT_GT(ended.calls("host"), 50);
}

const Scenario processes{"four processes at once", [] {
                           pid_t children[4];
                           for (auto& child : children) {
                             child = fork();
                             require(child >= 0, "no process");
                             if (child == 0) {
                               for (unsigned i = 0; i < 50; i++) require(mixed_call_is_right(i, 200), "a result");
                               std::exit(5);
                             }
                           }
                           for (const auto child : children) require(status_of(child) == 5, "a child's status");
                           return 0;
                         }};

TEST(Processes, ShareTheDevices) {
  const auto ended = processes.run({}, 60);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 200) << ended;
}

/// The resident memory of this process [KiB].
long resident() {
  malloc_trim(0);  // returns free memory to the system
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (long kibibytes = 0; word == "VmRSS:" && status >> kibibytes) return kibibytes;
  require(false, "no VmRSS");
  return 0;
}

const Scenario many{"very many calls of eight threads", [] {
                      std::atomic<long> before = 0;
                      const int calls = std::atoi(std::getenv("TEST_CALLS"));
                      compute_in_threads(calls / 8, 80, [&](int n) {
                        if (n == 1000) before = resident();
                      });
                      const long after = resident();
                      std::fprintf(stderr, "%ld KiB after 1000 calls, %ld KiB after %d\n", before.load(), after, calls);
                      require(after - before < 4096, "memory grows");
                      return 0;
                    }};

/// The slow test sets the number of calls through TESSERA_TEST_CALLS.
TEST(ManyCalls, NeedNoMoreMemoryThanAThousand) {
  const char* calls = std::getenv("TESSERA_TEST_CALLS");
  const auto ended =
      many.run({{"TEST_CALLS", calls != nullptr ? calls : "8000"}, {"TESSERA_BLAS_MIN_FLOPS", "1e5"}}, 1400);
  EXPECT_TRUE(has_ended(ended));
  std::cout << ended.err << ended.calls("devices") << " calls on the devices, " << ended.calls("host")
            << " on the host, " << ended.seconds << " s\n";
  EXPECT_GT(ended.calls("devices"), 1000);
  EXPECT_GT(ended.calls("host"), 1000);
}

}  // namespace
}  // namespace tessera::test::threads_cpp
