// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace tessera::runtime {

/// Calls a function five times a second from its own thread, which blocks all signals.
class Ticker {
 public:
  /// Starts the thread, which calls `tick` immediately. The destructor stops it.
  explicit Ticker(std::function<void()> tick);

 private:
  void run(const std::stop_token& stop);

  std::function<void()> tick_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last, so that it is joined before the other members are destroyed
};

}  // namespace tessera::runtime
