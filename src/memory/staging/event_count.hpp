// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace tessera::detail::staging {

/// An event count: a condition variable for conditions that change without a lock. If no thread waits, a notification
/// costs one load. The condition and the number of waiting threads are sequentially consistent atomics. So either the
/// notifying thread sees that another one waits, or the waiting thread sees that the condition holds.
class EventCount {
 public:
  /// Sleeps until condition() holds or a stop is requested.
  template <typename Condition>
  void wait(const std::stop_token& stop, Condition condition) {
    std::unique_lock lock(mutex_);
    waiting_++;  // before the condition is read
    changed_.wait(lock, stop, condition);
    waiting_--;
  }

  /// Wakes all waiting threads.
  /// @pre  the condition already held before this call
  void notify_all() {
    if (waiting_ == 0) return;
    const std::lock_guard lock(mutex_);  // acquired only once a thread that has checked the condition sleeps
    changed_.notify_all();
  }

  /// Wakes one waiting thread, if there is any.
  /// @pre  as for `notify_all`
  void notify_one() {
    if (waiting_ == 0) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_one();
  }

  /// The number of waiting threads.
  int waiting() const { return waiting_; }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::atomic<int> waiting_ = 0;
};

}  // namespace tessera::detail::staging
