// SPDX-License-Identifier: BSD-3-Clause
// Devices that start in a thread of their own, while calls go on on the host. The fake's start begins, says so through
// a pipe, and does not end before a word comes through another one.
#include <dlfcn.h>
#include <fcntl.h>

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>
#include <utility>

#include "beside.hpp"
#include "products.hpp"

extern "C" {
int openblas_get_num_threads();
void openblas_set_num_threads(int);
}

namespace tessera::test {
namespace {

constexpr int size = 600;

/// The pipes to and from the fake.
class Talk {
 public:
  Talk() {
    int says[2], hears[2];
    require(pipe2(says, O_NONBLOCK) == 0 && pipe(hears) == 0, "pipe");
    setenv("FAKE_SAYS", std::to_string(says[1]).c_str(), 1);
    setenv("FAKE_HEARS", std::to_string(hears[0]).c_str(), 1);
    says_ = says[0], hears_ = hears[1];
  }
  /// Whether the fake has said this letter: s when its start begins, r when it runs a call.
  bool heard(char letter) const {
    for (char c = 0; read(says_, &c, 1) == 1;)
      if (c == letter) return true;
    return false;
  }
  void go() const { require(write(hears_, "g", 1) == 1, "write"); }
  std::thread go_later() const {
    return std::thread([this] {
      usleep(100000);
      go();
    });
  }
  template <typename Compute>
  void compute_until(char letter, Compute compute) const {
    for (unsigned i = 0; i < 1000; i++) {
      require(compute(i), "a product");
      if (heard(letter)) return;
      usleep(5000);  // while the devices start, only a limited time of calls runs on the host
    }
    require(false, "no call was enough");
  }
  void compute_until(char letter) const {
    compute_until(letter, [](unsigned i) { return product_is_right(size, i); });
  }

 private:
  int says_ = -1, hears_ = -1;
};

/// Every call decides where it runs.
const Variables undecided{{"TESSERA_BLAS_MIN_FLOPS", {}}, {"OPENBLAS_NUM_THREADS", "1"}};

Ended run_slowly(const Scenario& scenario, Variables variables = {}) {
  variables.insert(undecided.begin(), undecided.end());
  return run_with_fake("start at a word, decline", scenario, variables);
}

const Scenario going_on{"calls go on while the devices start", [] {
                          const Talk talk;
                          talk.compute_until('s');
                          for (unsigned i = 0; i < 3; i++) require(product_is_right(size, i), "a product meanwhile");
                          talk.go();
                          talk.compute_until('r');
                          return 0;
                        }};

TEST(Start, LetsCallsGoOn) {
  const auto ended = run_slowly(going_on);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.said("devices"), "1 fake") << ended;
  EXPECT_GE(ended.calls("host"), 5) << ended;
}

/// The start goes on when no call has ended for a while.
const Scenario delaying{"calls that delay the start", [] {
                          const Talk talk;
                          talk.compute_until('s');
                          std::atomic<int> calls = 0;
                          const std::jthread other([&](const std::stop_token& stop) {
                            for (int before = -1; !stop.stop_requested(); usleep(1000000))
                              if (const int now = calls; std::exchange(before, now) == now) return talk.go();
                          });
                          while (!talk.heard('r')) {
                            require(product_is_right(size), "a product");
                            require(++calls < 3000, "no call has waited");
                          }
                          return 0;
                        }};

TEST(Start, IsWaitedForByCallsThatHaveDelayedIt) {
  const auto ended = run_slowly(delaying);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_GE(ended.calls("host"), 5) << ended;
}

const Scenario forking{"fork while the devices start", [] {
                         const Talk talk;
                         talk.compute_until('s');
                         auto other = talk.go_later();
                         const pid_t child = fork();
                         if (child == 0) {
                           require(product_is_right(size), "the child's product");
                           std::exit(3);
                         }
                         require(status_of(child) == 3, "the child's status");
                         other.join();
                         talk.compute_until('r');
                         return 0;
                       }};

TEST(Start, AForkInItsMiddleLeavesTheDevicesToTheParent) {
  const auto ended = run_slowly(forking);
  EXPECT_TRUE(has_ended(ended));
  EXPECT_TRUE(says(ended, "fork")) << "the child's";
}

const Scenario exiting{"exit while the devices start", []() -> int {
                         static const Talk talk;
                         talk.compute_until('s');
                         talk.go_later().detach();
                         std::exit(7);
                       }};

/// The fake says so if it is torn down while it starts.
TEST(Start, AnExitInItsMiddleWaitsForItsEnd) { EXPECT_TRUE(has_ended_silently(run_slowly(exiting), 7)); }

std::atomic<bool> handled = false;

const Scenario signalled{"a signal while the devices start", [] {
                           const Talk talk;
                           talk.compute_until('s');
                           std::signal(SIGUSR1, [](int) { handled = true; });
                           sigset_t set;
                           sigemptyset(&set);
                           sigaddset(&set, SIGUSR1);
                           pthread_sigmask(SIG_BLOCK, &set, nullptr);
                           kill(getpid(), SIGUSR1);
                           usleep(50000);
                           require(!handled, "the handler has run in a thread of ours");
                           pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
                           require(handled, "the handler has not run");
                           talk.go();
                           return 0;
                         }};

TEST(Start, TakesNoSignals) { EXPECT_TRUE(has_ended_silently(run_slowly(signalled))); }

using Gemm = decltype(dgemm_);

/// dlclose cannot wait for the start, which may need the loader's lock. The library goes away when the start has ended.
const Scenario closing{"dlclose while the devices start", [] {
                         const Talk talk;
                         const char* const name = std::getenv("TESSERA_TEST_DROPIN");
                         void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
                         require(library != nullptr, "dlopen");
                         const auto before = thread_names();
                         auto* const dgemm = reinterpret_cast<Gemm*>(dlsym(library, "dgemm_"));
                         require(dgemm != nullptr, "dgemm_");
                         const Matrix A(std::size_t{size} * size, 1);
                         auto C = A;
                         talk.compute_until('s', [&](unsigned i) {
                           const int n = size;
                           const double one = 1, zero = 0;
                           dgemm("N", "N", &n, &n, &n, &one, A.data(), &n, A.data(), &n, &zero, C.data(), &n);
                           return C[i] == size;
                         });
                         require(dlclose(library) == 0, "dlclose");
                         talk.go();
                         const auto is_there = [&] {
                           void* const again = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
                           return again != nullptr && dlclose(again) == 0;
                         };
                         for (int i = 0; i < 5000 && (is_there() || thread_names().size() > before.size()); i++)
                           usleep(2000);
                         require(!is_there(), "the library is still there");
                         require_same(before, thread_names(), "threads are left behind");
                         return 5;
                       }};

TEST(Start, OutlivesDlclose) { EXPECT_TRUE(has_ended_silently(run_slowly(closing, {{"LD_PRELOAD", {}}}), 5)); }

/// A call takes 20 ms on the fake's devices, and with those of the other threads before it 320 ms: longer than on the
/// host. If all of that counted, a third of the calls would leave. A busy machine may delay some so much that the host
/// seems faster for the next ones.
const Scenario crowded{"many threads call at a time", [] {
                         constexpr int order = 1200, threads = 16, rounds = 3;
                         const Talk talk;
                         talk.compute_until('r', [](unsigned i) {
                           product_is_right(order, i);
                           return true;
                         });
                         const Matrix A(std::size_t{order} * order, 1);
                         std::vector<std::thread> callers;
                         for (int thread = 0; thread < threads; thread++)
                           callers.emplace_back([&] {
                             auto C = A;
                             const int n = order;
                             const double one = 1, zero = 0;
                             for (int round = 0; round < rounds; round++)
                               dgemm_("N", "N", &n, &n, &n, &one, A.data(), &n, A.data(), &n, &zero, C.data(), &n);
                           });
                         for (auto& caller : callers) caller.join();
                         int on_devices = 0;
                         while (talk.heard('r')) on_devices++;
                         require(6 * on_devices > 5 * threads * rounds, "calls have left the devices");
                         return 0;
                       }};

TEST(Start, ManyCallersStayOnTheDevices) {
  EXPECT_TRUE(has_ended_silently(run_with_fake("take turns", crowded, undecided)));
}

/// With the true library, whose CPU workers use OpenBLAS, too.
const Scenario earnest{"StarPU starts while calls go on", [] {
                         constexpr int threads = 3;  // independent of the number of cores
                         openblas_set_num_threads(threads);
                         const auto has_starpu = [] {
                           std::ifstream maps("/proc/self/maps");
                           for (std::string line; std::getline(maps, line);)
                             if (line.find("libstarpu") != std::string::npos) return true;
                           return false;
                         };
                         const auto compute = [&](unsigned i) {
                           require(product_is_right(size, i), "a product");
                           require(openblas_get_num_threads() == threads, "OpenBLAS has other threads");
                         };
                         for (unsigned i = 0; i < 1000 && !has_starpu(); i++) compute(i);
                         for (unsigned i = 0; i < 5; i++) compute(i);
                         return 0;
                       }};

TEST(Start, OfStarpuLeavesOpenBlasAlone) {
  const auto ended = earnest.run(undecided);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_THAT(ended.said("devices"), ::testing::HasSubstr("CPU"));
}

}  // namespace
}  // namespace tessera::test
