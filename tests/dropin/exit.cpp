// SPDX-License-Identifier: BSD-3-Clause
// A program that ends during a call, in every possible way. It ends soon, with its own status, and without a crash.
// Each thread makes only one call, because OpenBLAS itself crashes or hangs if it is called during exit.
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <thread>

#include "products.hpp"
#include "talk.hpp"

extern "C" void dgesv_(const int*, const int*, double*, const int*, int*, double*, const int*, int*);

namespace tessera::test::exit_cpp {
namespace {

/// @param begun  incremented just before the call
void multiply(int n, std::atomic<int>& begun) {
  const auto A = integers(n, 1);
  auto C = A;
  const double one = 1;
  begun++;
  dgemm_("N", "T", &n, &n, &n, &one, A.data(), &n, A.data(), &n, &one, C.data(), &n);
}

const Talk& talk() {
  static const Talk only;
  return only;
}

/// Lets calls end once the exit has begun, and not before.
void end_calls_in_the_exit() {
  require(std::atexit([] {
            for (int call = 0; call < 3; call++) talk().go();
          }) == 0,
          "atexit");
}

/// Starts threads, and returns when each of them is in a call, where the fake engine holds it.
void begin_calls(int threads) {
  talk().go();
  require(product_is_right(150), "a product before");  // starts the devices
  talk().wait_for('r');
  static std::atomic<int> begun = 0;
  for (int t = 0; t < threads; t++)
    std::thread([] {
      multiply(1500, begun);
      for (;;) pause();
    }).detach();
  for (int t = 0; t < threads; t++) talk().wait_for('r');
  end_calls_in_the_exit();
}

const Scenario returning{"main returns while threads compute", [] {
                           begin_calls(3);
                           return 7;
                         }};
const Scenario exiting{"exit while a thread computes", []() -> int {
                         begin_calls(1);
                         std::exit(7);
                       }};
const Scenario another{"another thread exits while main computes", []() -> int {
                         begin_calls(1);
                         static std::atomic<int> begun = 0;
                         std::thread([] {
                           talk().wait_for('r');
                           std::exit(7);
                         }).detach();
                         multiply(1500, begun);
                         for (;;) pause();
                       }};
const Scenario at_once{"_exit while a thread computes", []() -> int {
                         begin_calls(2);
                         _exit(7);
                       }};
const Scenario quick{"quick_exit while a thread computes", []() -> int {
                       begin_calls(2);
                       std::quick_exit(7);
                     }};

const Variables tiles{{"TESSERA_TILE", "128"}};
const char* const held = "hold true calls";

class Exit : public ::testing::TestWithParam<const Scenario*> {};
INSTANTIATE_TEST_SUITE_P(, Exit, ::testing::Values(&returning, &exiting, &another, &at_once, &quick),
                         [](const auto& its) { return its.param->short_name(); });

TEST_P(Exit, WhileAThreadComputes) { EXPECT_TRUE(has_ended_silently(run_with_fake(held, *GetParam(), tiles), 7)); }

TEST(ExitLog, HasTheCallsThatWereWaitedFor) {
  const auto ended = run_with_fake(held, returning, tiles);
  EXPECT_EQ(ended.calls("devices"), 4) << ended;
  EXPECT_EQ(ended.calls("host"), 0) << "tiles are no calls of the program: " << ended;
}

const Scenario early{"exit while a thread starts the devices", []() -> int {
                       static std::atomic<int> begun = 0;
                       std::thread([] {
                         talk();
                         multiply(100, begun);
                         for (;;) pause();
                       }).detach();
                       talk().wait_for('s');
                       talk().go_later().detach();
                       std::exit(7);
                     }};

/// The fake aborts if it is stopped during the start, as StarPU and CUDA would crash. An exit while CUDA's libraries
/// are being loaded cannot be handled, because their own exit handlers run first.
TEST(ExitEarly, WhileAThreadStartsTheDevices) {
  for (const char* log : {"/dev/null", ""})
    EXPECT_TRUE(has_ended_silently(run_with_fake("start at a word, do nothing", early, {{"TESSERA_BLAS_LOG", log}}), 7))
        << log;
}

void exit_in_handler(int) { std::exit(7); }

/// The exiting thread is itself in a call, which can therefore never end.
const Scenario handler{"exit in a signal handler", []() -> int {
                         std::signal(SIGALRM, exit_in_handler);
                         require(product_is_right(150), "a product before");
                         std::atomic<int> begun = 0;
                         std::thread([main = pthread_self(), id = this_thread(), &begun] {
                           while (begun == 0) usleep(1000);
                           wait_until_asleep(id);  // it then waits for the workers, without holding malloc's lock
                           pthread_kill(main, SIGALRM);
                         }).detach();
                         multiply(3000, begun);
                         require(false, "the call was too short for this test");
                         return 0;
                       }};

TEST(ExitInAHandler, AmidACall) {
  if (std::getenv("TESSERA_TEST_NEEDS_GPUS") != nullptr) GTEST_SKIP() << "GPUs would be done too soon";
  const auto ended = handler.run({{"TESSERA_TILE", "512"}});
  EXPECT_TRUE(has_ended_silently(ended, 7));
}

/// The fake engine raises SIGALRM, whose handler exits.
const Scenario raised{"exit in a signal handler, where a fake raises it", []() -> int {
                        std::signal(SIGALRM, exit_in_handler);
                        std::atomic<int> begun = 0;
                        multiply(100, begun);
                        return 0;
                      }};

TEST(ExitInAHandler, WhileTheDevicesStart) {
  EXPECT_TRUE(has_ended_silently(run_with_fake("raise in start", raised), 7));
}
TEST(ExitInAHandler, WhileTheDevicesCompute) {
  EXPECT_TRUE(has_ended_silently(run_with_fake("raise in run", raised), 7));
}

TEST(ExitInAHandler, OnAWorkersThread) {
  EXPECT_TRUE(has_ended_silently(run_with_fake("raise in a worker", raised), 7));
}

sigjmp_buf before_the_call;

void jump_out(int) { siglongjmp(before_the_call, 1); }

/// Jumps out of a call, as an interpreter's time limit may do. The session continues.
template <typename Call>
void leave(Call call) {
  std::signal(SIGALRM, jump_out);
  static volatile bool left = false;
  if (sigsetjmp(before_the_call, 1) == 0) call();
  else left = true;
  require(left, "the call was too short for this test");
}

const Scenario jumping{"a handler jumps out of a call", []() -> int {
                         leave([] {
                           static std::atomic<int> begun = 0;
                           multiply(100, begun);
                         });
                         for (unsigned i = 0; i < 3; i++) require(product_is_right(100, i), "a product afterwards");
                         const pid_t child = fork();
                         if (child == 0) _exit(3);
                         require(status_of(child) == 3, "the child's status");
                         return 7;
                       }};

/// The fake engine raises the signal in its call.
TEST(JumpOutOfACall, LeavesTheHostBlas) {
  const auto ended = run_with_fake("raise in run", jumping);
  EXPECT_TRUE(has_ended(ended, 7));
  EXPECT_TRUE(says(ended, "a signal handler has jumped out of a call on the devices"));
}

const Scenario jumping_for_good{"a handler jumps out of a call that computes", []() -> int {
                                  require(product_is_right(150), "a product before");
                                  static std::atomic<int> begun = 0;
                                  std::thread([main = pthread_self(), id = this_thread()] {
                                    while (begun == 0) usleep(1000);
                                    wait_until_asleep(id);
                                    pthread_kill(main, SIGALRM);
                                  }).detach();
                                  leave([] { multiply(3000, begun); });
                                  require(product_is_right(150), "a product afterwards");
                                  return 7;
                                }};

TEST(JumpOutOfACall, LeavesTheHostBlasAndTheExit) {
  if (std::getenv("TESSERA_TEST_NEEDS_GPUS") != nullptr) GTEST_SKIP() << "GPUs would be done too soon";
  const auto ended = jumping_for_good.run({{"TESSERA_TILE", "512"}});  // few tasks, as above
  EXPECT_TRUE(has_ended(ended, 7));
  EXPECT_TRUE(says(ended, "a signal handler has jumped out of a call on the devices"));
}

const Scenario jumping_early{"a handler jumps out of a start", []() -> int {
                               leave([] {
                                 static std::atomic<int> begun = 0;
                                 multiply(100, begun);
                               });
                               std::thread([] { require(product_is_right(100), "another thread's product"); }).join();
                               require(product_is_right(100), "a product afterwards");
                               return 7;
                             }};

/// The signal comes when the devices have started.
TEST(JumpOutOfACall, LeavesAStartComplete) {
  EXPECT_TRUE(has_ended(run_with_fake("raise in start", jumping_early), 7));
}

volatile std::sig_atomic_t may_jump = 0;

void jump_out_if_it_may(int) {
  if (may_jump == 0) return;
  may_jump = 0;
  siglongjmp(before_the_call, 1);
}

/// Whether dgesv solves a diagonal system of order n.
bool solves(int n) {
  const auto size = static_cast<std::size_t>(n);
  Matrix A(size * size), b(size, 6);
  for (std::size_t i = 0; i < size; i++) A[i * (size + 1)] = 2;
  std::vector<int> pivots(size);
  const int one = 1;
  int info = -1;
  dgesv_(&n, &one, A.data(), &n, pivots.data(), b.data(), &n, &info);
  return info == 0 && std::ranges::all_of(b, [](double x) { return x == 3; });
}

/// Jumps out of calls that the host computes with one thread, as OpenBLAS allows: no lock stays locked.
const Scenario jumping_on_the_host{"a handler jumps out of calls on the host", [] {
                                     constexpr int n = 700;
                                     require(solves(50), "a first call");
                                     std::signal(SIGALRM, jump_out_if_it_may);
                                     for (volatile int left = 0; left < 3; left = left + 1) {
                                       auto A = integers(n, 1), B = A;
                                       std::vector<int> pivots(n);
                                       int info = 0;
                                       if (sigsetjmp(before_the_call, 1) != 0) continue;
                                       const itimerval soon{{0, 0}, {0, 2000}};
                                       may_jump = 1;
                                       setitimer(ITIMER_REAL, &soon, nullptr);
                                       dgesv_(&n, &n, A.data(), &n, pivots.data(), B.data(), &n, &info);
                                       require(false, "the call was too short for this test");
                                     }
                                     require(solves(1200), "a system that the devices solve");
                                     require(product_is_right(100), "a product on the host");
                                     return 7;
                                   }};

TEST(JumpOutOfACall, OnTheHostIsForgotten) {
  const auto ended = jumping_on_the_host.run(
      {{"OPENBLAS_NUM_THREADS", "1"}, {"TESSERA_BLAS_MIN_FLOPS", "1e9"}, {"TESSERA_TILE", "512"}});
  EXPECT_TRUE(has_ended_silently(ended, 7));
  EXPECT_EQ(ended.calls("devices", "dgesv"), 1) << ended;
  EXPECT_EQ(ended.calls("host", "dgemm"), 1) << ended;
}

/// Computes in its destructor, which runs after all exit handlers that were registered later.
struct Late {
  ~Late() {
    if (computes) require(product_is_right(120), "a destructor's product");
  }
  bool computes = false;
};

const Scenario at_exit{
    "calls while the process exits", [] {
      static Late late;
      require(std::atexit([] { require(product_is_right(130), "a handler's product"); }) == 0, "atexit");
      require(product_is_right(150), "a product");
      require(std::atexit([] { require(product_is_right(140), "a late handler's product"); }) == 0, "atexit");
      late.computes = true;
      return 7;
    }};

TEST(ExitHandlers, MayCallTheDropIn) {
  const auto ended = at_exit.run();
  EXPECT_TRUE(has_ended_silently(ended, 7));
  EXPECT_GE(ended.calls("devices"), 1) << ended;
}

const Scenario killed{"a signal while a thread computes", [] {
                        begin_calls(2);
                        const int signal = std::atoi(std::getenv("TEST_SIGNAL"));
                        if (signal == SIGABRT) std::abort();
                        std::raise(signal);
                        return 0;
                      }};

TEST(ExitBySignal, IsNotSwallowed) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGTERM, SIGINT}) {
    const auto ended = run_with_fake(held, killed, {{"TEST_SIGNAL", std::to_string(signal)}, {"TESSERA_TILE", "128"}});
    EXPECT_EQ(ended.signal, signal) << ended;
    EXPECT_EQ(ended.out + ended.err, "");
  }
}

}  // namespace
}  // namespace tessera::test::exit_cpp
