// SPDX-License-Identifier: BSD-3-Clause
// Devices that start in a separate thread while calls run on the host. The fake engine reports through a pipe that its
// start has begun, and does not finish the start before it receives a word through another pipe.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "products.hpp"
#include "talk.hpp"

extern "C" {
int openblas_get_num_threads();
void openblas_set_num_threads(int);
}

namespace tessera::test::start_cpp {
namespace {

constexpr int smallest = 380;  // hardly more than what may pay off on devices

/// The order of the products of a scenario.
int size() {
  const char* const given = std::getenv("TEST_SIZE");
  return given != nullptr ? std::atoi(given) : smallest;
}

/// An order whose product takes a core some 10 ms: long enough that devices would pay on a fast core. If it lasted 60
/// ms, as it may beside other programs, the call itself would start the devices, and wait for a word that nobody sends.
std::string size_that_pays() {
  const int threads = openblas_get_num_threads();
  openblas_set_num_threads(1);
  int n = smallest;
  for (std::chrono::steady_clock::duration least{};; n = n * 9 / 8) {
    const Matrix A(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 1);
    auto C = A;
    const double one = 1, zero = 0;
    for (int run = 0; run < 3; run++) {
      const auto begin = std::chrono::steady_clock::now();
      dgemm_("N", "N", &n, &n, &n, &one, A.data(), &n, A.data(), &n, &zero, C.data(), &n);
      const auto took = std::chrono::steady_clock::now() - begin;
      if (run == 0 || took < least) least = took;
    }
    if (least >= std::chrono::milliseconds(8)) break;
  }
  openblas_set_num_threads(threads);
  return std::to_string(n);
}

std::atomic<bool> computes = false;  ///< the program's thread is in a call

bool compute(unsigned i) {
  computes = true;
  const bool right = product_is_right(size(), i);
  computes = false;
  return right;
}

constexpr int too_slow = 75;  ///< status of a scenario

/// Ends the process if a call of this thread waits for the devices, which then wait for a word that nobody sends. On a
/// busy machine, calls last so long that they may.
class NoCallWaits {
 public:
  ~NoCallWaits() { thread_.request_stop(), thread_.join(); }
  NoCallWaits() = default;
  NoCallWaits(const NoCallWaits&) = delete;
  NoCallWaits& operator=(const NoCallWaits&) = delete;

 private:
  std::jthread thread_{[caller = this_thread()](const std::stop_token& stop) {
    for (int looks = 0; !stop.stop_requested(); usleep(1000)) {
      looks = computes && is_asleep(caller) ? looks + 1 : 0;
      if (looks == 100) _exit(too_slow);
    }
  }};
};

/// Computes until the devices start beside the calls.
template <typename Compute>
void compute_until_start(const Talk& talk, Compute compute) {
  const NoCallWaits watch;
  talk.compute_until('s', compute);
}

/// Each call decides where to run.
Variables undecided() {
  static const auto order = size_that_pays();
  return {{"TESSERA_BLAS_MIN_FLOPS", {}}, {"OPENBLAS_NUM_THREADS", "1"}, {"TEST_SIZE", order}};
}

/// Runs a scenario again, with smaller products, while the machine is too busy for it.
Ended run_slowly(const Scenario& scenario, Variables variables = {}) {
  variables.merge(undecided());
  const int usual = std::stoi(*variables["TEST_SIZE"]);
  for (int attempt = 1;; attempt++) {
    auto ended = run_with_fake("start at a word, decline", scenario, variables);
    if (ended.status != too_slow || attempt == 30) return ended;
    variables["TEST_SIZE"] = std::to_string(std::max(smallest, usual * 3 / 4));
  }
}

const Scenario going_on{"calls go on while the devices start", [] {
                          const Talk talk;
                          compute_until_start(talk, compute);
                          {
                            const NoCallWaits watch;
                            for (unsigned i = 0; i < 3; i++) require(compute(i), "a product meanwhile");
                          }
                          talk.go();
                          talk.compute_until('r', compute);
                          return 0;
                        }};

TEST(Start, LetsCallsGoOn) {
  const auto ended = run_slowly(going_on);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.said("devices"), "1 fake") << ended;
  EXPECT_GE(ended.calls("host"), 5) << ended;
}

/// The start continues after no call has ended for some time.
const Scenario delaying{"calls that delay the start", [] {
                          const Talk talk;
                          compute_until_start(talk, compute);
                          int calls = 0;
                          auto other = talk.go_later();
                          while (!talk.heard('r')) {
                            require(product_is_right(size()), "a product");
                            require(++calls < 3000, "no call has waited");
                          }
                          other.join();
                          return 0;
                        }};

TEST(Start, CallsThatDelayItWait) {
  const auto ended = run_slowly(delaying);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_GE(ended.calls("host"), 5) << ended;
}

const Scenario forking{"fork while the devices start", [] {
                         const Talk talk;
                         compute_until_start(talk, compute);
                         auto other = talk.go_later();
                         const pid_t child = fork();
                         if (child == 0) {
                           require(product_is_right(size()), "the child's product");
                           std::exit(3);
                         }
                         require(status_of(child) == 3, "the child's status");
                         other.join();
                         talk.compute_until('r', compute);
                         return 0;
                       }};

TEST(Start, ForkDuringTheStartLeavesTheDevicesToTheParent) {
  const auto ended = run_slowly(forking);
  EXPECT_TRUE(has_ended(ended));
  EXPECT_TRUE(says(ended, "fork")) << "the child's";
}

const Scenario exiting{"exit while the devices start", []() -> int {
                         static const Talk talk;
                         compute_until_start(talk, compute);
                         talk.go_later().detach();
                         std::exit(7);
                       }};

/// The fake reports if it is torn down while it starts.
TEST(Start, ExitDuringTheStartWaits) { EXPECT_TRUE(has_ended_silently(run_slowly(exiting), 7)); }

/// The threads of this process that a signal could interrupt.
std::vector<std::string> threads_that_take(int signal) {
  std::vector<std::string> names;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    std::string name, line;
    while (std::getline(status, line)) {
      if (line.starts_with("Name:")) name = line.substr(6);
      if (line.starts_with("SigBlk:") && (std::stoull(line.substr(8), nullptr, 16) >> (signal - 1) & 1) == 0)
        names.push_back(name);
    }
  }
  return names;
}

std::atomic<bool> handled = false;

const Scenario signalled{"a signal while the devices start", [] {
                           const Talk talk;
                           compute_until_start(talk, compute);
                           std::signal(SIGUSR1, [](int) { handled = true; });
                           sigset_t set;
                           sigemptyset(&set);
                           sigaddset(&set, SIGUSR1);
                           require(threads_that_take(SIGUSR1).size() == 1, "others than the program's thread take it");
                           pthread_sigmask(SIG_BLOCK, &set, nullptr);
                           require(threads_that_take(SIGUSR1).empty(), "the program's thread does not count");
                           kill(getpid(), SIGUSR1);
                           require(!handled, "the handler has run in a thread of ours");
                           pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
                           require(handled, "the handler has not run");
                           talk.go();
                           return 0;
                         }};

TEST(Start, TakesNoSignals) { EXPECT_TRUE(has_ended_silently(run_slowly(signalled))); }

using Gemm = decltype(dgemm_);

/// dlclose cannot wait for the start, which may need the loader's lock. The library is unloaded when the start has
/// ended.
const Scenario closing{"dlclose while the devices start", [] {
                         const Talk talk;
                         const char* const name = std::getenv("TESSERA_TEST_DROPIN");
                         void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
                         require(library != nullptr, "dlopen");
                         const auto before = thread_names();
                         auto* const dgemm = reinterpret_cast<Gemm*>(dlsym(library, "dgemm_"));
                         require(dgemm != nullptr, "dgemm_");
                         const int n = size();
                         const Matrix A(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 1);
                         auto C = A;
                         compute_until_start(talk, [&](unsigned i) {
                           const double one = 1, zero = 0;
                           computes = true;
                           dgemm("N", "N", &n, &n, &n, &one, A.data(), &n, A.data(), &n, &zero, C.data(), &n);
                           computes = false;
                           return C[i] == n;
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

constexpr int crowd = 16;

/// All calls are on the devices at the same time, for as long as the process has already existed.
const Scenario crowded{"many threads call at a time", [] {
                         const auto begin = std::chrono::steady_clock::now();
                         const Talk talk;
                         std::vector<std::thread> callers;
                         for (int thread = 0; thread < crowd; thread++)
                           callers.emplace_back([] { product_is_right(size()); });  // the fake computes nothing
                         for (int call = 0; call < crowd; call++) talk.wait_for('r');
                         std::this_thread::sleep_for(std::chrono::steady_clock::now() - begin);
                         for (int call = 0; call < crowd; call++) talk.go();
                         for (auto& caller : callers) caller.join();
                         return 0;
                       }};

/// If each call were charged its full time, the total would be sixteen times the time during which they were held.
TEST(Start, ManyCallersShareTheTime) {
  const auto ended = run_with_fake("hold calls", crowded);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), crowd) << ended;
  EXPECT_LT(ended.seconds_on("devices"), 4 * ended.seconds) << ended;
}

/// With the real library, whose CPU workers use OpenBLAS, too.
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
                           require(product_is_right(size(), i), "a product");
                           require(openblas_get_num_threads() == threads, "OpenBLAS has other threads");
                         };
                         for (unsigned i = 0; i < 1000 && !has_starpu(); i++) compute(i);
                         for (unsigned i = 0; i < 5; i++) compute(i);
                         return 0;
                       }};

TEST(Start, OfStarpuLeavesOpenBlasAlone) {
  const auto ended = earnest.run(undecided());
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_THAT(ended.said("devices"), ::testing::HasSubstr("CPU"));
}

}  // namespace
}  // namespace tessera::test::start_cpp
