// SPDX-License-Identifier: BSD-3-Clause
// Copies that host threads start when a counter has reached a value.
#include "memory/staging/host_copies.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace tessera::test::host_copies_cpp {
namespace {

using memory::staging::Moment;
using testing::ElementsAre;
using namespace std::chrono_literals;
using HostCopies = memory::staging::HostCopies<std::function<void(int)>>;

void wait_for(const Moment& moment) {
  while (!moment.is_reached()) std::this_thread::yield();
}

TEST(Moment, IsReachedByItsValueAndTheNextOnes) {
  std::uint32_t counter = 4;
  const Moment moment{&counter, 5};
  EXPECT_FALSE(moment.is_reached());
  moment.reach();
  EXPECT_TRUE(moment.is_reached());
  counter = 6;
  EXPECT_TRUE(moment.is_reached());
}

TEST(Moment, SurvivesAnOverflow) {
  std::uint32_t counter = std::numeric_limits<std::uint32_t>::max();
  const Moment next{&counter, 0};
  EXPECT_FALSE(next.is_reached());
  next.reach();
  EXPECT_TRUE(next.is_reached());
  EXPECT_TRUE((Moment{&counter, std::numeric_limits<std::uint32_t>::max()}.is_reached()));
}

HostCopies::Posted copy(std::function<void()> work, std::uint32_t& begin, std::uint32_t& end) {
  return {[work = std::move(work)](int) { work(); }, {&begin, 1}, {&end, 1}};
}

// The first copy of a queue has to wait. The copies behind it wait as well; those in another queue do not.
TEST(HostCopies, BeginInTheOrderOfTheirQueue) {
  std::array<std::uint32_t, 4> begin{0, 1, 1, 1}, end{};
  std::vector<int> order;
  HostCopies copies(1, 2, 0us);
  const auto slow = copies.open(), fast = copies.open();
  std::atomic<bool> posted = false;
  for (const auto& [queue, i] : {std::pair{slow, 0}, {slow, 1}, {fast, 2}, {fast, 3}}) {
    const auto at = static_cast<std::size_t>(i);
    const auto work = [&, i] {
      while (!posted) std::this_thread::yield();
      order.push_back(i);
    };
    copies.post(queue, copy(work, begin[at], end[at]));
  }
  posted = true;
  for (const std::size_t i : {2, 3}) wait_for({&end[i], 1});
  EXPECT_THAT(order, ElementsAre(2, 3));
  EXPECT_EQ(end[0], 0);
  EXPECT_EQ(end[1], 0);
  Moment{begin.data(), 1}.reach();
  wait_for({&end[1], 1});
  EXPECT_THAT(order, ElementsAre(2, 3, 0, 1));
}

// One thread is busy with a copy. Another feeder's copy runs concurrently, even if it is posted while no thread sleeps.
TEST(HostCopies, OfOneFeederDoNotWaitForOtherFeeders) {
  std::uint32_t begin = 1, first = 0, second = 0;
  HostCopies copies(2, 2, 0us);
  const auto one = copies.open(), other = copies.open();
  copies.post(one, copy([&] { wait_for({&second, 1}); }, begin, first));
  copies.post(other, copy([] {}, begin, second));
  wait_for({&first, 1});
  EXPECT_EQ(second, 1);
}

// A thread serves the queues in turn, and does not stay with a queue that always has work.
TEST(HostCopies, ServeAllQueues) {
  constexpr int each = 4;
  std::uint32_t begin = 0;
  std::vector<std::size_t> order;
  std::array<std::uint32_t, 2 * each> ends{};
  HostCopies copies(1, 2, 0us);
  const std::array queues{copies.open(), copies.open()};
  for (std::size_t i = 0; i < ends.size(); i++) {
    const auto queue = queues[i / each];
    copies.post(queue, copy([&, queue] { order.push_back(queue); }, begin, ends[i]));
  }
  Moment{&begin, 1}.reach();
  for (auto& end : ends) wait_for({&end, 1});
  for (std::size_t i = 1; i < order.size(); i++) EXPECT_NE(order[i], order[i - 1]) << i;
}

TEST(HostCopies, HaveAsManyQueuesAsAskedFor) {
  HostCopies copies(1, 2, 0us);
  EXPECT_NE(copies.open(), copies.open());
  EXPECT_THROW(copies.open(), std::length_error);
}

TEST(HostCopies, WakeThreadsThatSleep) {
  std::uint32_t counter = 0;
  HostCopies copies(3, 1, 0us);
  const auto queue = copies.open();
  EXPECT_EQ(copies.threads(), 3);
  for (std::uint32_t i = 1; i <= 20; i++) {
    while (copies.asleep() < 3) std::this_thread::yield();
    copies.post(queue, {[](int) {}, {&counter, i - 1}, {&counter, i}});
    wait_for({&counter, i});
  }
}

/// Posts a copy for each thread, which waits until all of them run.
/// @param then  what each thread does first in its copy
void run_in_each_thread(HostCopies& copies, std::function<void()> then) {
  std::uint32_t begin = 1;
  std::vector<std::uint32_t> ends(copies.threads());
  const auto queue = copies.open();
  std::atomic<std::size_t> running = 0;
  const auto meet = [&] {
    then();
    running++;
    while (running < ends.size()) std::this_thread::yield();
  };
  for (auto& end : ends) copies.post(queue, copy(meet, begin, end));
  for (auto& end : ends) wait_for({&end, 1});
}

TEST(HostCopies, LetEachThreadBeginFirst) {
  static thread_local bool begun = false;
  HostCopies copies(3, 1, 0us, [] { begun = true; });
  std::atomic<int> ready = 0;
  run_in_each_thread(copies, [&] { ready += begun ? 1 : 0; });
  EXPECT_EQ(ready, 3);
}

TEST(HostCopies, WakeAThreadForEachCopy) {
  constexpr int threads = 5;
  HostCopies copies(threads, 1, 0us);
  while (copies.asleep() < threads) std::this_thread::yield();
  std::atomic<int> ran = 0;
  run_in_each_thread(copies, [&] { ran++; });
  EXPECT_EQ(ran, threads);
}

TEST(HostCopies, EndWithCopiesThatMayNeverBegin) {
  std::uint32_t never = 0, end = 0;
  HostCopies copies(2, 1, 0us);
  copies.post(copies.open(), copy([] { FAIL(); }, never, end));
}

// Sleeping threads copy the parts at the same time. The end is reached when all parts have finished, not before.
TEST(HostCopies, CopyPartsTogether) {
  constexpr int threads = 4;
  HostCopies copies(threads, 1, 0us);
  const auto queue = copies.open();
  while (copies.asleep() < threads) std::this_thread::yield();
  std::uint32_t begin = 1, end = 7;
  std::array<std::atomic<int>, threads> taken{};
  std::atomic<int> running = 0;
  std::atomic<bool> go = false;
  const auto work = [&](int part) {
    taken.at(static_cast<std::size_t>(part))++;
    running++;
    while (part == 0 ? !go : running < threads) std::this_thread::yield();
  };
  copies.post(queue, {work, {&begin, 1}, {&end, 7 + threads}, 0, threads});
  wait_for({&end, 7 + threads - 1});
  EXPECT_FALSE((Moment{&end, 7 + threads}.is_reached()));
  go = true;
  wait_for({&end, 7 + threads});
  for (const auto& times : taken) EXPECT_EQ(times, 1);
}

TEST(CopyQueue, WithdrawsPartsThatHaveNotStarted) {
  memory::staging::CopyQueue<int> queue;
  std::uint32_t begin = 1, end = 0;
  const Moment ready{&begin, 1};
  queue.push({11, ready, {&end, 3}, 1, 3});
  queue.push({12, ready, {&end, 5}, 2, 2});
  const auto first = queue.take();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->copy, 11);
  queue.ended(1);
  EXPECT_EQ(queue.withdraw(1), 2);
  for (int part = 0; part < 2; part++) {
    const auto other = queue.take();
    ASSERT_TRUE(other);
    EXPECT_EQ(other->copy, 12);
  }
  EXPECT_FALSE(queue.take());
}

// Copies of other jobs stay in the queue, before and after the removed ones.
TEST(HostCopies, AreWithdrawnByJob) {
  std::uint32_t begin = 0, go = 0;
  std::array<std::uint32_t, 4> ends{};
  HostCopies copies(1, 1, 0us);
  const auto queue = copies.open();
  const auto job = copies.new_job(), other = copies.new_job();
  for (std::size_t i = 0; i < ends.size(); i++)
    copies.post(queue, {[](int) {}, {&begin, 1}, {&ends[i], 1}, i % 2 == 0 ? other : job});
  copies.withdraw(queue, job);
  Moment{&begin, 1}.reach();
  for (const std::size_t kept : {0, 2}) wait_for({&ends[kept], 1});
  copies.post(queue, {[](int) {}, {&begin, 1}, {&go, 1}, other});
  wait_for({&go, 1});
  EXPECT_THAT(ends, ElementsAre(1, 0, 1, 0));
}

// Like the copies of a tile: a thread plays the link, which empties the buffers that the host's threads have filled.
// Each buffer is used many times.
TEST(HostCopies, FillBuffersInTurn) {
  constexpr std::size_t buffers = 4;
  constexpr std::uint32_t pieces = 1000;
  struct Buffer {
    std::uint32_t filled = 0, emptied = 0, content = 0;
  };
  std::array<Buffer, buffers> all;
  HostCopies copies(3, 1, 100us);
  const auto queue = copies.open();
  std::vector<std::uint32_t> received;
  std::thread link([&] {
    for (std::uint32_t i = 0; i < pieces; i++) {
      auto& buffer = all[i % buffers];
      const auto use = static_cast<std::uint32_t>(i / buffers + 1);
      wait_for({&buffer.filled, use});
      received.push_back(buffer.content);
      Moment{&buffer.emptied, use}.reach();
    }
  });
  for (std::uint32_t i = 0; i < pieces; i++) {
    auto& buffer = all[i % buffers];
    const auto use = static_cast<std::uint32_t>(i / buffers + 1);
    copies.post(queue, {[&buffer, i](int) { buffer.content = i; }, {&buffer.emptied, use - 1}, {&buffer.filled, use}});
  }
  link.join();
  for (std::uint32_t i = 0; i < pieces; i++) ASSERT_EQ(received[i], i);
}

}  // namespace
}  // namespace tessera::test::host_copies_cpp
