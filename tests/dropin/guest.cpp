// SPDX-License-Identifier: BSD-3-Clause
// The drop-in in a program that does not know Tessera. Nothing starts before it pays off, nothing runs between calls,
// and the program's own settings do not change.
#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <csignal>

#include "products.hpp"
#include "support/signals.hpp"

extern "C" {
int openblas_get_num_threads();
void openblas_set_num_threads(int);
}

namespace tessera::test::guest_cpp {
namespace {

/// Whether a library whose name contains `name` is loaded.
bool has_library(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/" + name) != std::string::npos) return true;
  return false;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

const Scenario small{"small calls", [] {
                       const auto before = thread_names();
                       for (unsigned i = 0; i < 300; i++) require(product_is_right(50, i), "a product");
                       require(solution_is_right(60), "a solution");
                       require_same(before, thread_names(), "threads have been started");
                       require(!has_library("libtessera.so"), "libtessera.so has been loaded");
                       require(!has_library("libstarpu"), "StarPU has been loaded");
                       require(has_library("libtessera_blas.so"), "we have not been there");
                       return 0;
                     }};

TEST(Guest, StartsNothingForSmallCalls) {
  const Variables usual{{"TESSERA_BLAS_MIN_FLOPS", {}}, {"TESSERA_DEVICES", {}}}, cpu{{"TESSERA_BLAS_MIN_FLOPS", {}}},
      large{{"TESSERA_BLAS_MIN_FLOPS", "1e12"}}, none{{"TESSERA_DEVICES", "0"}};
  for (const auto& variables : {usual, cpu, large, none}) {
    const auto ended = small.run(variables);
    EXPECT_TRUE(has_ended_silently(ended));
    EXPECT_EQ(ended.calls("host"), 301) << ended;
    EXPECT_THAT(ended.said("devices"), ::testing::AnyOf("", ::testing::StartsWith("none (")));
  }
}

const Scenario no_call{"no call of a BLAS", [] {
                         require(!has_library("libtessera.so") && !has_library("libstarpu"),
                                 "something has been loaded");
                         return 0;
                       }};

TEST(Guest, IsSilentAboutAProgramWithoutCalls) {
  const auto ended = no_call.run({{"TESSERA_DEVICES", "nonsense"}});
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_TRUE(ended.log.empty()) << ended;
}

/// Whether this process becomes idle. OpenBLAS's own threads poll for a short time after a call, longer on a busy
/// machine.
bool becomes_idle() {
  for (int i = 0; i < 20; i++) {
    const double before = cpu_seconds();
    usleep(300000);
    if (cpu_seconds() - before < 0.03) return true;
  }
  return false;
}

const Scenario idle{"idle after a call", [] {
                      for (unsigned i = 0; i < 3; i++) {
                        require(product_is_right(200, i), "a product");
                        require(becomes_idle(), "an idle program burns CPU time");
                      }
                      return 0;
                    }};

TEST(Guest, LeavesAnIdleProgramIdle) {
  const auto ended = idle.run();
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 3) << ended;
}

const Scenario settings{"what belongs to the program", [] {
                          constexpr int threads = 3;  // independent of the number of cores
                          openblas_set_num_threads(threads);
                          constexpr int signals[] = {SIGINT, SIGTERM, SIGSEGV, SIGABRT,
                                                     SIGFPE, SIGBUS,  SIGCHLD, SIGPIPE};
                          const auto handlers = [&] {
                            std::vector<void (*)(int)> all;
                            for (const int signal : signals) {
                              struct sigaction action {};
                              sigaction(signal, nullptr, &action);
                              all.push_back(action.sa_handler);
                            }
                            return all;
                          };
                          const auto variables = [] {
                            std::vector<std::string> all;
                            for (char** variable = environ; *variable != nullptr; variable++)
                              all.emplace_back(*variable);
                            std::ranges::sort(all);
                            return all;
                          };
                          const auto cores = [] {
                            cpu_set_t set;
                            sched_getaffinity(0, sizeof set, &set);
                            return set;
                          };
                          const auto handlers_before = handlers();
                          const auto variables_before = variables();
                          const auto cores_before = cores();
                          for (unsigned i = 0; i < 5; i++) {
                            require(product_is_right(200, i), "a product");
                            require(openblas_get_num_threads() == threads, "OpenBLAS has other threads");
                            require(handlers() == handlers_before, "a signal has another handler");
                            require_same(variables_before, variables(), "the environment is another");
                            const auto now = cores();
                            require(CPU_EQUAL(&now, &cores_before), "this thread is bound to other cores");
                          }
                          openblas_set_num_threads(2);
                          require(product_is_right(200), "a product");
                          require(openblas_get_num_threads() == 2, "OpenBLAS has its old number of threads again");
                          return 0;
                        }};

TEST(Guest, LeavesTheProgramsStateAlone) {
  const auto ended = settings.run();
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 6) << ended;
}

/// The usual structure of a server: compute something, then let one thread wait for the signal that ends it.
const Scenario waiting{"a signal is waited for", [] {
                         require(product_is_right(300), "a product");
                         require_same({}, threads_that_take_signals(), "a thread takes the program's signals");
                         sigset_t end;
                         sigemptyset(&end), sigaddset(&end, SIGTERM);
                         pthread_sigmask(SIG_BLOCK, &end, nullptr);
                         kill(getpid(), SIGTERM);
                         int got = 0;
                         sigwait(&end, &got);
                         require(got == SIGTERM, "another signal");
                         return 0;
                       }};

TEST(Guest, LeavesSignalsToTheProgramsThreads) {
  const auto ended = waiting.run();
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 1) << ended;
}

const Scenario interrupted{"a timer interrupts", [] {
                             static volatile std::sig_atomic_t ticks = 0;
                             struct sigaction action {};
                             action.sa_handler = [](int) { ticks = ticks + 1; };  // without SA_RESTART
                             sigaction(SIGALRM, &action, nullptr);
                             const itimerval each_millisecond{{0, 1000}, {0, 1000}};
                             setitimer(ITIMER_REAL, &each_millisecond, nullptr);
                             for (unsigned i = 0; i < 20; i++) require(product_is_right(300, i), "a product");
                             require(solution_is_right(300), "a solution");
                             require(ticks > 20, "the timer");
                             return 0;
                           }};

TEST(Guest, MayBeInterrupted) {
  const auto ended = interrupted.run();
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 21) << ended;
}

const Scenario illegal{"an illegal argument", [] {
                         const int n = 3, wrong = -1;
                         const double one = 1, A[9] = {};
                         double C[9] = {};
                         dgemm_("N", "N", &n, &wrong, &n, &one, A, &n, A, &n, &one, C, &n);
                         return 3;
                       }};

/// In a program without its own xerbla_, that of OpenBLAS prints a message and returns.
TEST(Guest, LeavesIllegalArgumentsToTheHosts) {
  const auto under_us = illegal.run(), alone = illegal.run({{"LD_PRELOAD", {}}});
  EXPECT_EQ(under_us.status, 3) << under_us;
  EXPECT_NE(alone.out + alone.err, "");
  EXPECT_EQ(under_us.out, alone.out);
  EXPECT_EQ(under_us.err, alone.err);
}

}  // namespace
}  // namespace tessera::test::guest_cpp
