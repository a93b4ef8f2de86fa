// SPDX-License-Identifier: BSD-3-Clause
// Waits that poll for the end, and waits that sleep.
#include "runtime/outstanding.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace tessera::test::outstanding_cpp {
namespace {

using detail::Outstanding;
using namespace std::chrono_literals;

/// What a wait costs this thread.
struct Spent {
  double computed;  ///< [s]
  long sleeps;      ///< yielding does not count
};

Spent spent() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_nvcsw};
}

/// The cost of a wait for something that takes this long.
Spent wait(std::chrono::microseconds duration, bool awake) {
  Outstanding all;
  std::optional<Outstanding::One> one(std::in_place, all);
  std::jthread other([&] {
    std::this_thread::sleep_for(duration);
    one.reset();
  });
  const auto begin = spent();
  all.wait(awake);
  const auto end = spent();
  return {end.computed - begin.computed, end.sleeps - begin.sleeps};
}

TEST(Waits, DoNotSleepIfTheEndIsNear) {
  long least = 1;  // of several attempts: a busy machine may let the other thread wait for a core
  for (int attempt = 0; attempt < 20 && least > 0; attempt++) least = std::min(least, wait(500us, true).sleeps);
  EXPECT_EQ(least, 0);
}

TEST(Waits, SleepAfterSomeMilliseconds) { EXPECT_LT(wait(200ms, true).computed, 50e-3); }

TEST(Waits, SleepIfTheyAreNotToPoll) { EXPECT_GT(wait(20ms, false).sleeps, 0); }

TEST(Waits, PollOneAtATime) {
  long most = 0;
  for (int attempt = 0; attempt < 10; attempt++) {
    Outstanding first;
    std::optional<Outstanding::One> one(std::in_place, first);
    std::jthread looks([&] { first.wait(true); });
    std::this_thread::sleep_for(1ms);
    most = std::max(most, wait(3ms, true).sleeps);  // the first one polls all the time
    one.reset();
  }
  EXPECT_GT(most, 0);
}

}  // namespace
}  // namespace tessera::test::outstanding_cpp
