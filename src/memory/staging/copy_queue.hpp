// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace tessera::memory::staging {

/// The moment when a counter reaches a value. A GPU can write the counter, too. The counter may overflow.
struct Moment {
  std::uint32_t* counter;
  std::uint32_t value;

  bool is_reached() const {
    const auto now = std::atomic_ref(*counter).load(std::memory_order_acquire);
    return static_cast<std::int32_t>(now - value) >= 0;
  }
  void reach() const { std::atomic_ref(*counter).store(value, std::memory_order_release); }
  /// Brings the counter nearer to the value, by one.
  void approach() const { std::atomic_ref(*counter).fetch_add(1, std::memory_order_release); }
};

/// Copies that one thread posts and any thread takes, part by part. They become ready in the order in which they are
/// posted, so only the first copy needs to be checked. Threads that look for work check it without the lock, so even
/// many of them do not disturb the posting thread.
/// @pre  The counters of the copies outlive the threads that take them.
template <typename Copy>
class alignas(64) CopyQueue {  // cache lines not shared with others
 public:
  struct Posted {
    Copy copy;
    Moment begin, end;      ///< the copy may start at `begin`; each part that has finished brings `end` nearer by one
    std::uint64_t job = 0;  ///< the job to which the copy belongs
    int parts = 1;          ///< number of parts of the copy that have not been taken
  };

  void push(Posted copy) {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(copy));
    if (posted_.size() == 1) show_first();
  }

  /// Takes a part of the first copy if it may start and no other thread uses the queue. Call `ended` after running it.
  /// @return  `parts` is the number of the part, from 0
  std::optional<Posted> take() {
    if (!seems_ready()) return std::nullopt;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || posted_.empty() || !posted_.front().begin.is_reached()) return std::nullopt;
    running_.push_back(posted_.front().job);
    auto& first = posted_.front();
    if (--first.parts > 0) return first;
    auto last = std::move(first);
    posted_.pop_front();
    show_first();
    return last;
  }
  /// Reports that a part of a copy of this job has finished.
  void ended(std::uint64_t job) {
    const std::lock_guard lock(mutex_);
    running_.erase(std::ranges::find(running_, job));
  }

  /// Withdraws the parts of a job's copies that have not started, and waits for those that have. Parts that have
  /// started wait for nothing.
  /// @return  the number of withdrawn parts
  std::size_t withdraw(std::uint64_t job) {
    std::unique_lock lock(mutex_);
    std::size_t withdrawn = 0;
    std::erase_if(posted_, [&](const Posted& posted) {
      if (posted.job == job) withdrawn += static_cast<std::size_t>(posted.parts);
      return posted.job == job;
    });
    show_first();
    while (std::ranges::find(running_, job) != running_.end()) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
    return withdrawn;
  }

 private:
  /// Whether the first copy may start. May be wrong while another thread changes the queue.
  bool seems_ready() const {
    auto* const counter = first_counter_.load(std::memory_order_acquire);
    return counter != nullptr && Moment{counter, first_value_.load(std::memory_order_relaxed)}.is_reached();
  }
  /// @pre  mutex_ is locked
  void show_first() {
    if (!posted_.empty()) first_value_.store(posted_.front().begin.value, std::memory_order_relaxed);
    first_counter_.store(posted_.empty() ? nullptr : posted_.front().begin.counter, std::memory_order_release);
  }

  std::atomic<std::uint32_t*> first_counter_ = nullptr;  ///< counter of posted_.front(); null if there is none
  std::atomic<std::uint32_t> first_value_ = 0;
  alignas(64) std::mutex mutex_;        // not in a cache line that threads looking for work read
  std::deque<Posted> posted_;           // guarded by mutex_
  std::vector<std::uint64_t> running_;  // guarded by mutex_: the jobs of parts that have started
};

}  // namespace tessera::memory::staging
