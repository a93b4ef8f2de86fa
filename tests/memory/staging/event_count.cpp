// SPDX-License-Identifier: BSD-3-Clause
// An event count loses no notification.
#include "memory/staging/event_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "meeting.hpp"

namespace tessera::test::event_count_cpp {
namespace {

using memory::staging::EventCount;

// A notification arrives after a thread has found the condition false, and before the thread sleeps.
TEST(EventCount, NotifiesThreadsThatFallAsleep) {
  EventCount event;
  std::atomic<bool> holds = false, notified = false;
  Meeting awake(2);
  std::jthread notifier;
  const std::jthread sleeper([&](const std::stop_token& stop) {
    event.wait(stop, [&] {
      const bool held = holds;
      if (notifier.joinable()) return held;
      notifier = std::jthread([&] {
        holds = true;
        event.notify_one();
        notified = true;
      });
      while (!holds) std::this_thread::yield();
      // Time for a notification that does not wait until this thread sleeps. On a busy machine, a yield takes
      // milliseconds.
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      for (int i = 0; i < 1000 && !notified && std::chrono::steady_clock::now() < end; i++) std::this_thread::yield();
      return held;
    });
    awake.arrive();
  });
  EXPECT_NO_THROW(awake.arrive());
}

}  // namespace
}  // namespace tessera::test::event_count_cpp
