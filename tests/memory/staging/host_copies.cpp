// SPDX-License-Identifier: BSD-3-Clause
// Copies that threads of the host begin when a counter has reached a value.
#include "memory/staging/host_copies.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

namespace tessera::test::host_copies_cpp {
namespace {

using detail::staging::Moment;
using testing::ElementsAre;
using namespace std::chrono_literals;
using HostCopies = detail::staging::HostCopies<std::function<void()>>;

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

// The first copy has to wait, the others do not wait for it.
TEST(HostCopies, BeginInTheirOrderWhenTheyMay) {
  std::array<std::uint32_t, 4> begin{0, 1, 1, 1}, end{};
  std::vector<int> order;
  HostCopies copies(1, 0us);
  std::atomic<bool> posted = false;
  const auto copy = [&](int i) {
    return HostCopies::Posted{[&, i] {
                                while (!posted) std::this_thread::yield();
                                order.push_back(i);
                              },
                              {&begin[static_cast<std::size_t>(i)], 1},
                              {&end[static_cast<std::size_t>(i)], 1}};
  };
  for (int i = 0; i < 4; i++) copies.post(copy(i));
  posted = true;
  for (const std::size_t i : {1, 2, 3}) wait_for({&end[i], 1});
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
  EXPECT_EQ(end[0], 0);
  Moment{begin.data(), 1}.reach();
  wait_for({end.data(), 1});
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 0));
}

TEST(HostCopies, WakeThreadsThatSleep) {
  std::uint32_t counter = 0;
  HostCopies copies(3, 0us);
  EXPECT_EQ(copies.threads(), 3);
  for (std::uint32_t i = 1; i <= 20; i++) {
    while (copies.asleep() < 3) std::this_thread::yield();
    copies.post({[] {}, {&counter, i - 1}, {&counter, i}});
    wait_for({&counter, i});
  }
}

TEST(HostCopies, EndWithCopiesThatMayNeverBegin) {
  std::uint32_t never = 0, end = 0;
  HostCopies copies(2, 0us);
  copies.post({[] { FAIL(); }, {&never, 1}, {&end, 1}});
}

// As the copies of a tile: a thread stands for the link, which empties the buffers that the host's threads have filled.
// Each buffer is used many times.
TEST(HostCopies, FillBuffersInTurn) {
  constexpr std::size_t buffers = 4;
  constexpr std::uint32_t pieces = 1000;
  struct Buffer {
    std::uint32_t filled = 0, emptied = 0, content = 0;
  };
  std::array<Buffer, buffers> all;
  HostCopies copies(3, 100us);
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
    copies.post({[&buffer, i] { buffer.content = i; }, {&buffer.emptied, use - 1}, {&buffer.filled, use}});
  }
  link.join();
  for (std::uint32_t i = 0; i < pieces; i++) ASSERT_EQ(received[i], i);
}

}  // namespace
}  // namespace tessera::test::host_copies_cpp
