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

namespace tessera::detail::staging {

/// The moment when a counter reaches a value. A GPU can write the counter, too. The counter may overflow.
struct Moment {
  std::uint32_t* counter;
  std::uint32_t value;

  bool is_reached() const {
    const auto now = std::atomic_ref(*counter).load(std::memory_order_acquire);
    return static_cast<std::int32_t>(now - value) >= 0;
  }
  void reach() const { std::atomic_ref(*counter).store(value, std::memory_order_release); }
};

/// Copies that one thread posts and any thread takes. They become ready in the order in which they are posted, so only
/// the first copy needs to be checked. Threads that look for work check it without the lock, so even many of them do
/// not disturb the posting thread.
/// @pre  The counters of the copies outlive the threads that take them.
template <typename Copy>
class alignas(64) CopyQueue {  // cache lines not shared with others
 public:
  struct Posted {
    Copy copy;
    Moment begin, end;      ///< the copy may start at `begin`, and reaches `end` when it has finished
    std::uint64_t job = 0;  ///< the job to which the copy belongs
  };

  void push(Posted copy) {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(copy));
    if (posted_.size() == 1) show_first();
  }

  /// Takes the first copy if it may start and no other thread uses the queue. Call `ended` after running it.
  std::optional<Posted> take() {
    if (!seems_ready()) return std::nullopt;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || posted_.empty() || !posted_.front().begin.is_reached()) return std::nullopt;
    running_.push_back(posted_.front().job);
    auto taken = std::move(posted_.front());
    posted_.pop_front();
    show_first();
    return taken;
  }
  /// Reports that a copy of this job has finished.
  void ended(std::uint64_t job) {
    const std::lock_guard lock(mutex_);
    running_.erase(std::ranges::find(running_, job));
  }

  /// Withdraws the copies of a job that have not started, and waits for those that have. Copies that have started wait
  /// for nothing.
  /// @return  the number of withdrawn copies
  std::size_t withdraw(std::uint64_t job) {
    std::unique_lock lock(mutex_);
    const auto withdrawn = std::erase_if(posted_, [job](const Posted& posted) { return posted.job == job; });
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
  std::vector<std::uint64_t> running_;  // guarded by mutex_: the jobs of copies that have started
};

}  // namespace tessera::detail::staging
