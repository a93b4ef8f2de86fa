// SPDX-License-Identifier: BSD-3-Clause
// Programs that fork. The child has none of the threads that the devices need.
#include <fcntl.h>
#include <spawn.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "products.hpp"
#include "talk.hpp"

extern "C" {
int openblas_get_num_threads();
void openblas_set_num_threads(int);
}

namespace tessera::test::fork_cpp {
namespace {

constexpr int size = 150;
const Variables three{{"TEST_OPENBLAS_THREADS", "3"}}, quiet{{"TEST_OPENBLAS_THREADS", "3"}, {"TESSERA_QUIET", "1"}};

/// The number of OpenBLAS threads at the start of a scenario. OPENBLAS_NUM_THREADS cannot exceed the number of cores,
/// so TEST_OPENBLAS_THREADS sets it here.
const int openblas_threads = [] {
  if (const char* wanted = std::getenv("TEST_OPENBLAS_THREADS")) openblas_set_num_threads(std::atoi(wanted));
  return openblas_get_num_threads();
}();

/// Forks a child that computes twice and calls exit. Returns its exit status.
int exit_of_a_child(int status, bool computes = true) {
  const pid_t child = fork();
  require(child >= 0, "no process");
  if (child == 0) {
    if (computes) {
      require(openblas_get_num_threads() == openblas_threads, "the child's OpenBLAS has other threads");
      require(product_is_right(size, 5), "the child's product");
      require(solution_is_right(size, 6), "the child's solution");
    }
    std::exit(status);
  }
  return status_of(child);
}

const Scenario after{"fork after a call", [] {
                       require(product_is_right(size), "the product before");
                       require(exit_of_a_child(3) == 3, "the child's status");
                       require(product_is_right(size), "the product after");
                       return 0;
                     }};

TEST(Fork, AfterACallTheChildStaysOnTheHost) {
  const auto ended = after.run(three);
  EXPECT_TRUE(has_ended(ended));
  EXPECT_TRUE(says(ended, "fork")) << "the child's";
  EXPECT_EQ(ended.calls("devices", "dgemm"), 2) << ended;
  EXPECT_EQ(ended.calls("host", "dgemm"), 1) << ended;
  EXPECT_EQ(ended.calls("host", "dtrsm"), 1) << ended;
}

TEST(Fork, QuietIsQuiet) { EXPECT_TRUE(has_ended_silently(after.run(quiet))); }

const Scenario silent{"fork after a call, no calls in the child", [] {
                        require(product_is_right(size), "the product before");
                        for (int i = 0; i < 5; i++) require(exit_of_a_child(i, false) == i, "the child's status");
                        require(product_is_right(size), "the product after");
                        return 0;
                      }};

TEST(Fork, AChildWithoutCallsIsSilent) {
  const auto ended = silent.run(three);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 2) << ended;
}

const Scenario grandchild{"fork in a forked child", [] {
                            require(product_is_right(size), "the product before");
                            const pid_t child = fork();
                            if (child == 0) {
                              require(product_is_right(size), "the child's product");
                              std::exit(exit_of_a_child(4));
                            }
                            require(status_of(child) == 4, "the grandchild's status");
                            require(product_is_right(size), "the product after");
                            return 0;
                          }};

TEST(Fork, AgainInTheChild) {
  const auto ended = grandchild.run(three);
  EXPECT_TRUE(has_ended(ended));
  EXPECT_EQ(ended.calls("devices"), 2) << ended;
  EXPECT_EQ(ended.calls("host"), 3) << ended;
}

const Scenario busy{"fork while other threads compute", [] {
                      std::atomic<bool> done = false;
                      std::atomic<int> calls = 0;
                      std::vector<std::thread> threads;
                      for (unsigned t = 0; t < 2; t++)
                        threads.emplace_back([&, t] {
                          while (!done) {
                            require(product_is_right(size, t), "a thread's product");
                            calls++;
                          }
                        });
                      while (calls < 2) usleep(1000);
                      for (int i = 0; i < 20; i++) {
                        require(exit_of_a_child(i) == i, "the child's status");
                        const int before = calls;
                        while (calls < before + 2) usleep(1000);
                      }
                      done = true;
                      for (auto& thread : threads) thread.join();
                      return 0;
                    }};

TEST(Fork, WhileOtherThreadsCompute) {
  const auto ended = busy.run(quiet);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_GE(ended.calls("devices"), 40) << ended;
  EXPECT_EQ(ended.calls("host"), 40) << ended;
}

/// The first fork happens while the other thread makes its first call, and the later forks while the devices start.
const Scenario starting{"fork while another thread starts the devices", [] {
                          std::atomic<bool> begun = false;
                          std::thread other([&] {
                            begun = true;
                            require(product_is_right(size), "a thread's product");
                          });
                          while (!begun) usleep(10);
                          for (int i = 0; i < 4; i++) {
                            require(exit_of_a_child(i) == i, "the child's status");
                            usleep(5000);
                          }
                          other.join();
                          require(product_is_right(size), "the product after");
                          return 0;
                        }};

TEST(Fork, WhileAnotherThreadStartsTheDevices) {
  for (int repeat = 0; repeat < 3; repeat++) ASSERT_TRUE(has_ended_silently(starting.run(quiet)));
}

/// The first BLAS call of the process is made while a fork handler of the program runs. The fork then waits until the
/// devices have started.
const Scenario during{"the first call comes during a fork", [] {
                        static const Talk talk;
                        static std::atomic<bool> forking = false;
                        require(pthread_atfork(
                                    [] {
                                      forking = true;
                                      talk.wait_for('s');
                                      talk.go_later().detach();
                                    },
                                    nullptr, nullptr) == 0,
                                "pthread_atfork");
                        std::thread other([] {
                          while (!forking) usleep(100);
                          require(product_is_right(size), "a thread's product");
                        });
                        require(exit_of_a_child(3) == 3, "the child's status");
                        other.join();
                        return 0;
                      }};

/// Uses one OpenBLAS thread. With several threads, a fork while another thread computes leaves OpenBLAS's lock locked
/// in the child.
TEST(Fork, WhileAnotherThreadMakesTheFirstCall) {
  auto variables = quiet;
  variables["TEST_OPENBLAS_THREADS"] = "1";
  EXPECT_TRUE(has_ended_silently(run_with_fake("start at a word, decline", during, variables)));
}

const Scenario before{"fork before any call", [] {
                        require(exit_of_a_child(5) == 5, "the child's status");
                        require(product_is_right(size), "the product after");
                        return 0;
                      }};

TEST(Fork, BeforeAnyCallEachHasItsDevices) {
  const auto ended = before.run(three);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 3) << ended;
  EXPECT_EQ(ended.calls("host"), 0) << ended;
}

const Scenario between{"fork after a call of the host", [] {
                         require(product_is_right(10), "a small product");
                         require(exit_of_a_child(6) == 6, "the child's status");
                         require(product_is_right(size), "the product after");
                         return 0;
                       }};

TEST(Fork, AfterACallOfTheHostEachHasItsDevices) {
  const auto ended = between.run({{"TEST_OPENBLAS_THREADS", "3"}, {"TESSERA_BLAS_MIN_FLOPS", "1e5"}});
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 3) << ended;
  EXPECT_EQ(ended.calls("host"), 1) << ended;
}

const Scenario one{"one product", [] {
                     require(product_is_right(size), "the product");
                     return 9;
                   }};

const Scenario exec{"fork and exec", [] {
                      require(product_is_right(size), "the product before");
                      auto words = one.command();
                      char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
                      const pid_t child = fork();
                      if (child == 0) {
                        execv(arguments[0], arguments);
                        _exit(127);
                      }
                      require(status_of(child) == 9, "the program after fork and exec");
                      pid_t spawned = 0;
                      require(posix_spawn(&spawned, arguments[0], nullptr, nullptr, arguments, environ) == 0,
                              "no process");
                      require(status_of(spawned) == 9, "the spawned program");
                      const auto line = "'" + words[0] + "' " + words[1] + " '" + words[2] + "'";
                      require(WEXITSTATUS(std::system(line.c_str())) == 9, "the program by way of a shell");
                      require(product_is_right(size), "the product after");
                      return 0;
                    }};

TEST(Fork, AndExecHasDevicesAgain) {
  const auto ended = exec.run(three);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 5) << ended;
}

}  // namespace
}  // namespace tessera::test::fork_cpp
