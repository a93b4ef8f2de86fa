// SPDX-License-Identifier: BSD-3-Clause
// Waits that poll for the end, and waits that sleep.
#include "runtime/outstanding.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace tessera::test::outstanding_cpp {
namespace {

using runtime::Outstanding;
using namespace std::chrono_literals;

/// What a wait costs this thread.
struct Spent {
  double computed;  ///< [s]
  long sleeps;      ///< number of times it slept, not counting yields
};

Spent spent() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_nvcsw};
}

/// The clock of the time that the calling thread computes.
clockid_t clock_of_this_thread() {
  clockid_t clock{};
  EXPECT_EQ(pthread_getcpuclockid(pthread_self(), &clock), 0);
  return clock;
}
double seconds_of(clockid_t clock) {
  timespec time{};
  EXPECT_EQ(clock_gettime(clock, &time), 0);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The cost of a wait for something that takes `duration`.
Spent wait(std::chrono::microseconds duration, std::chrono::milliseconds polling) {
  Outstanding all;
  std::optional<Outstanding::One> one(std::in_place, all);
  std::jthread other([&] {
    std::this_thread::sleep_for(duration);
    one.reset();
  });
  const auto begin = spent();
  all.wait(polling);
  const auto end = spent();
  return {end.computed - begin.computed, end.sleeps - begin.sleeps};
}

TEST(Waits, DoNotSleepWhileTheyPoll) {
  long least = 1;  // the minimum of several attempts, because a page of memory may have to be read
  for (int attempt = 0; attempt < 20 && least > 0; attempt++) least = std::min(least, wait(500us, 1min).sleeps);
  EXPECT_EQ(least, 0);
}

TEST(Waits, SleepAfterSomeMilliseconds) { EXPECT_LT(wait(200ms, Outstanding::usual_polling).computed, 50e-3); }

/// Whether a wait sleeps. Looks at several waits, because what it waits for may end before a busy machine lets it
/// begin.
bool sleeps(std::chrono::microseconds duration, std::chrono::milliseconds polling) {
  for (int attempt = 0; attempt < 20; attempt++)
    if (wait(duration, polling).sleeps > 0) return true;
  return false;
}

TEST(Waits, SleepIfTheyAreNotToPoll) { EXPECT_TRUE(sleeps(20ms, 0ms)); }

TEST(Waits, PollOneAtATime) {
  Outstanding first;
  std::optional<Outstanding::One> one(std::in_place, first);
  std::atomic<bool> polls = false;
  std::jthread looks([&] {
    std::jthread observer([&, clock = clock_of_this_thread()] {
      // A thread that polls yields, so it computes little on a busy machine.
      const double polled = seconds_of(clock) + 1e-3;
      while (seconds_of(clock) < polled) std::this_thread::sleep_for(1ms);
      polls = true;
    });
    first.wait(1min);
  });
  while (!polls) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(sleeps(3ms, 1min));
  one.reset();
}

}  // namespace
}  // namespace tessera::test::outstanding_cpp
