// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace tessera::test {

/// Threads wait here until all expected threads have arrived; later ones do not wait.
class Meeting {
 public:
  explicit Meeting(int expected) : expected_(expected) {}
  /// @throws std::runtime_error if the others never arrive
  void arrive() {
    std::unique_lock lock(mutex_);
    came_++;
    all_.notify_all();
    if (!all_.wait_for(lock, std::chrono::seconds(60), [&] { return came_ >= expected_; }))
      throw std::runtime_error("a thread did not come to help");
  }

 private:
  const int expected_;
  int came_ = 0;
  std::mutex mutex_;
  std::condition_variable all_;
};

}  // namespace tessera::test
