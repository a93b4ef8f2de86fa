// SPDX-License-Identifier: BSD-3-Clause
// How many threads copy within host memory.
#include "devices/cpu/copying_threads.hpp"

#include <gmock/gmock.h>

#include <initializer_list>
#include <thread>
#include <utility>
#include <vector>

#include "common/streaming_copy.hpp"

namespace tessera::test::copying_threads_cpp {
namespace {

using device::CostCurve;
using device::fewest_copying_threads;

/// @param rates  GB/s of all threads together, by their number
CostCurve curve(std::initializer_list<std::pair<double, double>> rates) {
  std::vector<CostCurve::Point> points;
  for (const auto& [threads, rate] : rates) points.push_back({threads, threads / rate});
  return CostCurve(points);
}

TEST(CopyingThreads, AreAsFewAsNearlyReachTheBestRate) {
  EXPECT_EQ(fewest_copying_threads(curve({{1, 12}, {4, 36}, {8, 56}, {16, 61}, {59, 79}})), 59);
  EXPECT_EQ(fewest_copying_threads(curve({{1, 12}, {4, 36}, {8, 56}, {12, 57}, {14, 58}})), 8);
  EXPECT_EQ(fewest_copying_threads(curve({{1, 20}, {2, 20.5}, {3, 18}})), 1);
  EXPECT_EQ(fewest_copying_threads({}), 1);
}

TEST(CopyingThreads, AreAsFewAsNearlyFeedTheLinks) {
  const auto host = curve({{1, 6}, {4, 22}, {8, 41}, {12, 53}, {16, 58}, {24, 66}});
  EXPECT_EQ(fewest_copying_threads(host, 55), 12);
  EXPECT_EQ(fewest_copying_threads(host, 20), 4);
  EXPECT_EQ(fewest_copying_threads(host, 110), 24);
}

TEST(CopyingThreads, LeaveCoresToDriversAndTheCaller) {
  EXPECT_EQ(device::most_copying_threads(1, 16), 12);
  EXPECT_EQ(device::most_copying_threads(4, 64), 48);
  EXPECT_EQ(device::most_copying_threads(8, 16), 7);
  EXPECT_EQ(device::most_copying_threads(2, 4), 1);
  const std::size_t cores = std::thread::hardware_concurrency();
  EXPECT_EQ(device::most_copying_threads(cores), 1);
  EXPECT_LE(device::copying_threads(cores).count, 1);
}

TEST(CopyingThreads, StreamWhatTheirCachesHoldIfTheMemoryIsFastEnough) {
  constexpr std::size_t caches = std::size_t{24} << 20;
  const std::size_t all = common::can_stream ? caches : 0;
  EXPECT_EQ(device::streamed_bytes(caches, 1, 44, 55), all);
  EXPECT_EQ(device::streamed_bytes(caches, 2, 60, 110), all / 2);
  EXPECT_EQ(device::streamed_bytes(caches, 4, 60, 220), 0);
  EXPECT_EQ(device::streamed_bytes(0, 1, 44, 55), 0) << "unknown";
}

TEST(CopyingThreads, AreMeasured) {
  for (const bool through_buffers : {false, true}) {
    const auto [measured, busy] = device::measure_host_copies(5, through_buffers);
    std::vector<double> counts;
    for (const auto& [threads, seconds] : measured.points()) {
      counts.push_back(threads);
      EXPECT_GT(seconds, 0);
    }
    EXPECT_THAT(counts, testing::ElementsAre(1, 2, 3, 4, 5));
  }
}

}  // namespace
}  // namespace tessera::test::copying_threads_cpp
