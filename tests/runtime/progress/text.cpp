// SPDX-License-Identifier: BSD-3-Clause
// The text about running calls, from invented observations.
#include "runtime/progress/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::test::text_cpp {
namespace {

using runtime::Progress, runtime::ProgressText;
using ::testing::DoubleNear, ::testing::HasSubstr, ::testing::Not, ::testing::Optional;

/// An observation with tasks of 1 Gflop each.
Progress at(double seconds, std::uint64_t done, std::uint64_t tasks = 1000) {
  return {.period = 1,
          .running = true,
          .tasks = tasks,
          .tasks_done = done,
          .flops = 1e9 * static_cast<double>(tasks),
          .flops_done = 1e9 * static_cast<double>(done),
          .seconds = seconds};
}

TEST(ProgressText, IsEmptyWithoutCalls) {
  ProgressText text;
  EXPECT_EQ(text.say(), "");
  EXPECT_FALSE(text.rate());
  EXPECT_FALSE(text.seconds_left());
  text.add({});
  EXPECT_EQ(text.say(), "");
}

TEST(ProgressText, IsEmptyForShortCalls) {
  ProgressText text;
  text.add(at(0.99, 500));
  EXPECT_EQ(text.say(), "");
  text.add(at(1, 505));
  EXPECT_NE(text.say(), "");
}

TEST(ProgressText, IsEmptyOnceAllIsDone) {
  ProgressText text;
  text.add(at(2, 900));
  auto end = at(3, 1000);
  end.running = false;
  text.add(end);
  EXPECT_EQ(text.say(), "");
}

TEST(ProgressText, SaysAll) {
  ProgressText text;
  auto now = at(2, 250);
  now.bytes_in = 12'345'678'901, now.bytes_out = 4'100'000;
  text.add(now);
  EXPECT_EQ(text.say(), "25 %, 6 s left, 125 GFLOP/s, 250 of 1000 tasks, in 12.3 GB, out 4.10 MB");
}

TEST(ProgressText, CountsFlopsAndNotTasks) {
  ProgressText text;
  auto now = at(2, 500);
  now.flops_done = 0.9 * now.flops;
  text.add(now);
  EXPECT_THAT(text.say(), HasSubstr("90 %"));
  now.flops = now.flops_done = 0;  // as in a scaling
  text.add(now);
  EXPECT_THAT(text.say(), HasSubstr("50 %"));
}

TEST(ProgressText, IsAtAHundredPercentOnlyAtTheEnd) {
  ProgressText text;
  text.add(at(2, 999'999, 1'000'000));
  EXPECT_THAT(text.say(), HasSubstr("99 %"));
  EXPECT_THAT(text.say(), HasSubstr("1 s left"));
}

TEST(ProgressText, HasNoForecastWhileMoreIsSubmitted) {
  ProgressText text;
  auto now = at(2, 250);
  now.submitting = true;
  text.add(now);
  EXPECT_EQ(text.say(), "125 GFLOP/s, 250 of 1000 tasks so far");
  EXPECT_FALSE(text.seconds_left());
}

TEST(ProgressText, ShowsCurrentRateAndForecast) {
  ProgressText text;
  for (int tick = 1; tick <= 50; tick++) text.add(at(0.2 * tick, static_cast<std::uint64_t>(20 * tick), 10000));
  EXPECT_THAT(text.rate(), Optional(DoubleNear(100e9, 1e6)));
  for (int tick = 1; tick <= 5; tick++)
    text.add(at(10 + 0.2 * tick, static_cast<std::uint64_t>(1000 + 60 * tick), 10000));
  EXPECT_THAT(text.rate(), Optional(DoubleNear(300e9, 1e6)));  // over the last second
  // The rate over the last five seconds is about (500 + 300 - 100) / 5.
  EXPECT_THAT(text.seconds_left(), Optional(DoubleNear(8700 / 140.0, 1)));
}

TEST(ProgressText, DoesNotSlowDownWhileALongTaskRuns) {
  ProgressText text;
  text.add(at(1.9, 0, 12));
  EXPECT_EQ(text.say(), "0 %, 0 of 12 tasks");
  text.add(at(2, 2, 12));
  EXPECT_THAT(text.rate(), Optional(1e9));
  EXPECT_THAT(text.seconds_left(), Optional(10));
  text.add(at(3.5, 2, 12));
  EXPECT_THAT(text.rate(), Optional(1e9));
  EXPECT_THAT(text.seconds_left(), Optional(8.5));
  text.add(at(4, 4, 12));
  EXPECT_THAT(text.rate(), Optional(1e9));
  EXPECT_THAT(text.seconds_left(), Optional(8));
}

TEST(ProgressText, ShowsThatWorkHasStalled) {
  ProgressText text;
  for (int tick = 1; tick <= 20; tick++) text.add(at(0.2 * tick, static_cast<std::uint64_t>(20 * tick)));
  text.add(at(104, 400));
  EXPECT_LT(text.rate().value(), 1e9);
}

TEST(ProgressText, StartsAnewWithEachPeriod) {
  ProgressText text;
  text.add(at(10, 900));
  auto next = at(1.5, 0);
  next.period = 2;
  text.add(next);
  EXPECT_EQ(text.say(), "0 %, 0 of 1000 tasks");
  next = at(2, 4);
  next.period = 2;
  text.add(next);
  EXPECT_THAT(text.rate(), Optional(2e9));
}

TEST(ProgressText, StaysSmall) {  // and right over an hour
  ProgressText text;
  for (std::uint64_t tick = 1; tick <= 5 * 3600; tick++)
    text.add(at(0.2 * static_cast<double>(tick), 2 * tick, 100'000));
  EXPECT_THAT(text.rate(), Optional(DoubleNear(10e9, 1e6)));
  EXPECT_THAT(text.seconds_left(), Optional(DoubleNear(6400, 1)));
  EXPECT_THAT(text.say(), HasSubstr("1 h 46 min left, 10.0 GFLOP/s"));
}

TEST(ProgressText, SaysHowItEnded) {
  auto end = at(12.34, 1000);
  end.running = false;
  EXPECT_EQ(say_end(end), "100 %, 1000 tasks in 12.3 s, 81.0 GFLOP/s");
  end.flops_done = end.flops = 5.6e14;
  EXPECT_THAT(say_end(end), HasSubstr("45.4 TFLOP/s"));
}

TEST(ProgressText, SaysDurations) {
  EXPECT_EQ(runtime::say_duration(0.1), "1 s");
  EXPECT_EQ(runtime::say_duration(59), "59 s");
  EXPECT_EQ(runtime::say_duration(59.5), "1 min 0 s");
  EXPECT_EQ(runtime::say_duration(200), "3 min 20 s");
  EXPECT_EQ(runtime::say_duration(7500), "2 h 5 min");
  EXPECT_THAT(runtime::say_duration(1e300), Not(HasSubstr("-")));
}

}  // namespace
}  // namespace tessera::test::text_cpp
