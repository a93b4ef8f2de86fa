// SPDX-License-Identifier: BSD-3-Clause
// The numbers of ready and running tasks over time.
#include <gmock/gmock.h>

#include "small_run.hpp"
#include "trace/analysis/analysis.hpp"

namespace tessera::trace::series_cpp {
namespace {

using testing::ElementsAre;

constexpr int gpu_0 = 0, gpu_1 = 1;

TEST(Series, ReadyAndRunning) {
  SmallRun small(2);
  const int first = small.task(gpu_0, 1, 4);
  small.task(gpu_1, 1, 2);
  small.task(gpu_1, 6, 8, {}, {first});
  const auto analysis = analyse(small.run);
  EXPECT_THAT(analysis.ready.time, ElementsAre(0, 1, 4, 6));
  EXPECT_THAT(analysis.ready.count, ElementsAre(2, 0, 1, 0));
  EXPECT_THAT(analysis.running.time, ElementsAre(0, 1, 2, 4, 6, 8));
  EXPECT_THAT(analysis.running.count, ElementsAre(0, 2, 1, 0, 1, 0));
}

TEST(Series, ThinnedWithoutLosingPeaks) {
  SmallRun small(1);
  constexpr int tasks = 50'000;
  for (int i = 0; i < tasks; ++i) small.task(gpu_0, 2 * i + 1, 2 * i + 2);
  for (int extra = 0; extra < 7; ++extra)
    small.task(gpu_0, 30'001, 30'001.5);  // a peak much narrower than a point of the picture
  const auto analysis = analyse(small.run);
  EXPECT_LE(analysis.running.time.size(), 4000);
  EXPECT_EQ(*std::ranges::max_element(analysis.running.count), 8);
  EXPECT_EQ(analysis.running.time.front(), 0);
  EXPECT_EQ(analysis.running.time.back(), 2 * tasks);
  EXPECT_TRUE(std::ranges::is_sorted(analysis.running.time));
}

}  // namespace
}  // namespace tessera::trace::series_cpp
