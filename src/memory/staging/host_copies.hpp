// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "event_count.hpp"
#include "thread_pool.hpp"

namespace tessera::detail::staging {

/// A value that a counter reaches. The counter is in memory that a GPU may write, too. It may overflow.
struct Moment {
  std::uint32_t* counter;
  std::uint32_t value;

  bool is_reached() const {
    const auto now = std::atomic_ref(*counter).load(std::memory_order_acquire);
    return static_cast<std::int32_t>(now - value) >= 0;
  }
  void reach() const { std::atomic_ref(*counter).store(value, std::memory_order_release); }
};

/// Threads that run copies in host memory as soon as what each of them waits for has happened. No thread waits while
/// there is another copy that may begin. They know nothing of GPUs.
/// @tparam Copy  has operator(), which throws nothing
template <typename Copy>
class HostCopies {
 public:
  struct Posted {
    Copy copy;
    Moment begin, end;      ///< when it may begin; what is reached when it has ended
    std::uint64_t job = 0;  ///< what it is a part of
  };

  /// @param threads  If the system refuses to create that many, there are fewer.
  /// @param spin     how long a thread without work spins before it sleeps
  explicit HostCopies(std::size_t threads, std::chrono::microseconds spin = std::chrono::milliseconds(1))
      : spin_(spin) {
    try {
      while (threads_.size() < threads) threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
    } catch (const std::system_error&) {
    }
  }
  /// Ends the threads. Copies that have not begun will not.
  ~HostCopies() {
    for (auto& thread : threads_) thread.request_stop();
  }
  HostCopies(const HostCopies&) = delete;
  HostCopies& operator=(const HostCopies&) = delete;

  /// Any number of threads may call this at a time.
  void post(Posted copy) {
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(copy));
      count_++;
    }
    work_.notify_all();
  }

  /// A name for a job that no other has.
  std::uint64_t new_job() { return ++jobs_; }

  /// Takes back the copies of a job that have not begun, and waits for those that have.
  void withdraw(std::uint64_t job) {
    const auto is_of_job = [job](const Posted& posted) { return posted.job == job; };
    std::unique_lock lock(mutex_);
    count_ -= std::erase_if(posted_, is_of_job);
    while (std::ranges::find(running_, job) != running_.end()) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
  }

  std::size_t threads() const { return threads_.size(); }
  /// The number of threads that sleep until a copy is posted.
  int asleep() const { return work_.waiting(); }

 private:
  void serve(const std::stop_token& stop) {
    auto last = std::chrono::steady_clock::now();
    while (!stop.stop_requested()) {
      if (auto posted = take()) {
        posted->copy();
        posted->end.reach();
        {
          const std::lock_guard lock(mutex_);
          running_.erase(std::ranges::find(running_, posted->job));
        }
        last = std::chrono::steady_clock::now();
        continue;
      }
      for (int i = 0; i < 32; i++) pause();
      std::this_thread::yield();  // there may be more threads than cores
      if (count_ > 0 || std::chrono::steady_clock::now() - last < spin_) continue;
      work_.wait(stop, [&] { return count_ > 0; });
      last = std::chrono::steady_clock::now();
    }
  }

  /// The first copy that may begin.
  std::optional<Posted> take() {
    if (count_ == 0) return std::nullopt;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return std::nullopt;
    const auto next = std::ranges::find_if(posted_, [](const Posted& posted) { return posted.begin.is_reached(); });
    if (next == posted_.end()) return std::nullopt;
    running_.push_back(next->job);
    auto taken = std::move(*next);
    posted_.erase(next);
    count_--;
    return taken;
  }

  const std::chrono::microseconds spin_;
  std::atomic<std::uint64_t> jobs_ = 0;
  std::atomic<std::size_t> count_ = 0;  ///< of posted_
  EventCount work_;
  std::mutex mutex_;
  std::deque<Posted> posted_;           // guarded by mutex_
  std::vector<std::uint64_t> running_;  // guarded by mutex_: the jobs of copies that have begun
  std::vector<std::jthread> threads_;   // last: the threads end before the other members are destroyed
};

}  // namespace tessera::detail::staging
