// SPDX-License-Identifier: BSD-3-Clause
// When a worker without a task asks for one again.
#include "scheduler/ideas/polling.hpp"

#include <gtest/gtest.h>

namespace tessera::scheduler {
namespace {

constexpr double start = 1000;  // s

/// The time at which the worker asks again after an unsuccessful request.
double next_look(const Polling& polling, double now) {
  constexpr double step = 1e-7;
  while (!polling.is_due(now)) now += step;
  return now;
}

/// The state of a worker that has found nothing for `seconds`, and asks now.
Polling waiting_for(double seconds, bool has_reserved) {
  Polling polling;
  polling.found_none(start, has_reserved);
  polling.found_none(start + seconds, has_reserved);
  return polling;
}

TEST(Polling, AsksAtOnceAfterTheFirstFailure) {
  Polling polling;
  EXPECT_TRUE(polling.is_due(start));
  polling.found_none(start, false);
  EXPECT_TRUE(polling.is_due(start));
}

TEST(Polling, AsksAgainAfterAQuarterOfTheWait) {
  const auto polling = waiting_for(20e-6, false);
  EXPECT_FALSE(polling.is_due(start + 24e-6));
  EXPECT_TRUE(polling.is_due(start + 26e-6));
}

TEST(Polling, AsksMoreOftenWithReservedTasks) {
  const double hour = 3600;
  EXPECT_NEAR(next_look(waiting_for(hour, false), start + hour) - start - hour, 100e-6, 1e-6);
  EXPECT_NEAR(next_look(waiting_for(hour, true), start + hour) - start - hour, 8e-6, 1e-6);
}

TEST(Polling, CoresBesideGpusAskOnceAMillisecondTogether) {
  Polling polling;
  polling.found_none(start, false, 30);
  EXPECT_NEAR(next_look(polling, start) - start, 30e-3, 1e-6);
}

TEST(Polling, StartsAgainOnceATaskWasFound) {
  auto polling = waiting_for(1, false);
  polling.found();
  EXPECT_TRUE(polling.is_due(start + 1));
  polling.found_none(start + 2, false);
  EXPECT_TRUE(polling.is_due(start + 2));
}

}  // namespace
}  // namespace tessera::scheduler
