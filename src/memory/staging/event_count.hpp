// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace tessera::memory::staging {

/// An event count: a condition variable for conditions that change without a lock. A notification costs one load if no
/// thread waits. The condition and the number of waiting threads are sequentially consistent atomics, so either the
/// notifying thread sees the waiting thread, or the waiting thread sees that the condition holds.
class EventCount {
 public:
  /// Sleeps until condition() holds or a stop is requested.
  template <typename Condition>
  void wait(const std::stop_token& stop, Condition condition) {
    std::unique_lock lock(mutex_);
    waiting_++;  // must precede the first check of the condition
    changed_.wait(lock, stop, condition);
    waiting_--;
  }

  /// Wakes one waiting thread, if there is any.
  /// @pre  the condition already held before this call
  void notify_one() {
    if (waiting_ == 0) return;
    const std::lock_guard lock(mutex_);  // blocks until a thread that has checked the condition is asleep
    changed_.notify_one();
  }

  /// The number of waiting threads.
  int waiting() const { return waiting_; }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::atomic<int> waiting_ = 0;
};

}  // namespace tessera::memory::staging
