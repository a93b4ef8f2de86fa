// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace tessera::detail {

/// Calls a function five times a second, on a thread of its own that no signal is delivered to.
class Ticker {
 public:
  explicit Ticker(std::function<void()> tick);

 private:
  void run(const std::stop_token& stop);

  std::function<void()> tick_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: it goes first
};

}  // namespace tessera::detail
