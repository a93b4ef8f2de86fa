// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/not_copyable.hpp"
#include "common/pause.hpp"
#include "copy_queue.hpp"
#include "event_count.hpp"

namespace tessera::memory::staging {

/// Threads that run copies in host memory as soon as these may start. Each posting thread has its own queues. No thread
/// stays idle while the first copy of any queue may start. This class is independent of GPUs.
/// @tparam Copy  has operator()(part), with the number of a part of the copy, from 0; it does not throw
template <typename Copy>
class HostCopies : common::NotCopyable {
 public:
  using Queue = CopyQueue<Copy>;
  using Posted = typename Queue::Posted;

  /// @param threads  number of threads; fewer if the system refuses to create them
  /// @param queues   maximum number of queues
  /// @param spin     how long a thread without work spins before it sleeps
  /// @param begin    called first by each thread; does not throw
  HostCopies(
      std::size_t threads, std::size_t queues, std::chrono::microseconds spin = std::chrono::milliseconds(1),
      const std::function<void()>& begin = [] {})
      : spin_(spin), queues_(queues) {
    try {
      while (threads_.size() < threads)
        threads_.emplace_back([this, i = threads_.size(), begin](const std::stop_token& stop) {
          begin();
          serve(stop, i);
        });
    } catch (const std::system_error&) {
    }
    count_ = threads_.size();
  }
  /// Ends the threads. Copies that have not started are dropped.
  ~HostCopies() {
    for (auto& thread : threads_) thread.request_stop();
  }

  /// Opens a queue for the calling thread. Any number of threads may call this at a time.
  std::size_t open() {
    auto opened = opened_.load();
    do {
      if (opened == queues_.size()) throw std::length_error("all queues of copies are in use");
    } while (!opened_.compare_exchange_weak(opened, opened + 1));
    return opened;
  }

  /// @param queue  a queue whose copies become ready in the order in which they are posted
  void post(std::size_t queue, Posted copy) {
    const auto parts = copy.parts;
    const auto unended = unended_ += static_cast<std::size_t>(parts);
    try {
      queues_[queue].push(std::move(copy));
    } catch (...) {  // no memory
      unended_ -= static_cast<std::size_t>(parts);
      throw;
    }
    // A part needs one thread. No more threads are woken, so the cost of posting does not depend on the number of
    // sleepers.
    for (int part = 0; part < parts && unended + static_cast<std::size_t>(asleep()) > count_; part++)
      work_.notify_one();
  }

  /// A unique identifier for a job.
  std::uint64_t new_job() { return ++jobs_; }

  /// Withdraws the parts of a job's copies that have not started, and waits for those that have.
  void withdraw(std::size_t queue, std::uint64_t job) { unended_ -= queues_[queue].withdraw(job); }

  std::size_t threads() const { return count_; }
  /// The number of threads that sleep until a copy is posted.
  int asleep() const { return work_.waiting(); }

 private:
  /// @param next  index of the first queue to look at, different for each thread and each time
  void serve(const std::stop_token& stop, std::size_t next) {
    auto last = std::chrono::steady_clock::now();
    while (!stop.stop_requested()) {
      if (run_one(next)) {
        last = std::chrono::steady_clock::now();
        continue;
      }
      for (int i = 0; i < 32; i++) common::pause();
      std::this_thread::yield();  // there may be more threads than cores
      if (unended_ > 0 || std::chrono::steady_clock::now() - last < spin_) continue;
      work_.wait(stop, [&] { return unended_ > 0; });
      last = std::chrono::steady_clock::now();
    }
  }

  /// @return  false if no copy may start
  bool run_one(std::size_t& next) {
    const std::size_t opened = opened_;
    for (std::size_t i = 0; i < opened; i++) {
      auto& queue = queues_[next++ % opened];
      if (auto posted = queue.take()) {
        posted->copy(posted->parts);
        posted->end.approach();
        queue.ended(posted->job);
        unended_--;
        return true;
      }
    }
    return false;
  }

  const std::chrono::microseconds spin_;
  std::atomic<std::uint64_t> jobs_ = 0;
  std::atomic<std::size_t> opened_ = 0;   ///< number of open queues
  std::atomic<std::size_t> unended_ = 0;  ///< parts of copies that were posted and have not ended
  std::size_t count_ = 0;                 ///< number of threads
  EventCount work_;
  std::vector<Queue> queues_;
  std::vector<std::jthread> threads_;  // last, so that the threads end before the other members are destroyed
};

}  // namespace tessera::memory::staging
