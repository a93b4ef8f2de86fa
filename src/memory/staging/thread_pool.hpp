// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/not_copyable.hpp"
#include "common/pause.hpp"
#include "event_count.hpp"

namespace tessera::detail::staging {

/// The number of threads that a pool should have.
/// @param useful   number of copying threads if memory is no limit
/// @param memory   limit for the staging buffers of all threads [bytes]; 0: no limit
/// @param copier   memory that one thread needs [bytes]
/// @param posters  number of threads that post jobs. They always copy; the threads of the pool share the rest of the
///                 memory
inline std::size_t threads_of_pool(std::size_t useful, std::size_t memory, std::size_t copier, std::size_t posters) {
  if (memory == 0) return useful;
  const auto copiers = memory / copier;
  return std::min(useful, copiers - std::min(copiers, posters));
}

/// Hands out the pieces of a job: each index once, to any thread.
class Pieces {
 public:
  /// @pre  no thread is in `take`
  void open(int count) {
    count_ = count;
    left_ = count;  // from now on, other threads may take pieces
  }
  /// Ends the job: no more pieces can be taken.
  void close() { left_ = 0; }
  bool any_left() const { return left_ > 0; }
  /// @return  the index of a piece; empty if none is left
  std::optional<int> take() {
    if (const int left = left_--; left > 0) return count_ - left;
    return std::nullopt;
  }

 private:
  int count_ = 0;
  std::atomic<int> left_ = 0;  ///< negative after calls of `take` that found no piece
};

/// The resources of a copying thread. A copier serves one thread and one job at a time.
template <typename T>
concept PieceCopier = std::default_initializable<T> && requires(T copier, const typename T::Job& job, Pieces& pieces) {
  { job.piece_count() } -> std::convertible_to<int>;
  /// Prepares a pool thread for the job, before it creates or uses a copier.
  job.select_device();
  /// Creates what the copier needs for the job.
  copier.prepare(job);
  /// Copies pieces until none are left. When it returns, the pieces that it took have been copied.
  copier.copy(job, pieces);
};

/// Threads that share the pieces of a job with the thread that posts it. The posting thread also copies, so a job ends
/// even if no thread of the pool is free.
template <PieceCopier Copier>
class ThreadPool : NotCopyable {
 public:
  using Job = typename Copier::Job;
  static constexpr std::size_t max_jobs = 16;  ///< jobs at a time; further posting threads wait

  /// @param threads  number of threads; fewer if the system refuses to create them
  /// @param spin     how long a thread without work spins before it sleeps. Usually more tiles follow, and waking up is
  ///                 slow
  explicit ThreadPool(std::size_t threads, std::chrono::microseconds spin = std::chrono::milliseconds(1));
  /// Ends the threads.
  /// @pre  no thread is in `run`
  ~ThreadPool() {
    for (auto& thread : threads_) thread.request_stop();
  }

  /// Copies all pieces. Any number of threads may call this at a time.
  /// @throws  the first exception of the calling thread's copier (when created, prepared or used), or of a pool thread
  ///         while it copies a piece. After such a failure, no thread starts another piece. A pool thread that cannot
  ///         select the device, or cannot create or prepare a copier, is not a failure: that thread does not help
  void run(const Job& job);

  std::size_t threads() const { return threads_.size(); }
  /// The number of threads that sleep until a job is posted.
  int asleep() const { return posted_.waiting(); }

 private:
  /// The place where a thread posts a job. Slots are reused while pool threads look at them without a lock. A pool
  /// thread reads the job only between `readers++` and `readers--`, and the slot gets another job only when `readers`
  /// is 0.
  struct alignas(64) Slot {  // cache lines not shared with others
    std::atomic<bool> in_use = false;
    std::atomic<int> readers = 0;
    Pieces pieces;
    const Job* job = nullptr;
    std::mutex failing;
    std::exception_ptr failure;  // guarded by failing

    void copy(Copier& copier) {
      try {
        copier.copy(*job, pieces);
      } catch (...) {
        pieces.close();
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
      }
    }
  };

  std::unique_ptr<Copier> take_copier();
  Slot& free_slot();
  bool any_work() const {
    return std::ranges::any_of(slots_, [](const Slot& slot) { return slot.pieces.any_left(); });
  }

  void serve(const std::stop_token& stop);
  /// Copies pieces of the jobs that are currently posted.
  /// @return  false if there was nothing to do
  bool help(std::unique_ptr<Copier>& copier);
  /// @return  false if this thread cannot help. The posting thread and the other pool threads then copy all pieces
  bool prepare(const Job& job, std::unique_ptr<Copier>& copier);
  /// Sleeps until there is work, or until the pool ends.
  void rest(const std::stop_token& stop);

  std::array<Slot, max_jobs> slots_;
  const std::chrono::microseconds spin_;
  EventCount posted_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Copier>> spare_;  // guarded by mutex_
  std::vector<std::jthread> threads_;           // last, so that the threads end before the other members are destroyed
};

template <PieceCopier Copier>
ThreadPool<Copier>::ThreadPool(std::size_t threads, std::chrono::microseconds spin) : spin_(spin) {
  try {
    while (threads_.size() < threads) threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
  } catch (const std::system_error&) {  // the posting threads then copy more pieces themselves
  }
}

template <PieceCopier Copier>
void ThreadPool<Copier>::run(const Job& job) {
  auto copier = take_copier();
  copier->prepare(job);
  auto& slot = free_slot();
  slot.job = &job;
  const int count = job.piece_count();
  slot.pieces.open(count);  // from this point on, pool threads see the job
  if (count > 1) posted_.notify_all();
  slot.copy(*copier);                // returns when no pieces are left
  while (slot.readers > 0) pause();  // waits at most as long as one piece takes
  const auto failure = std::exchange(slot.failure, nullptr);
  slot.in_use = false;
  {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(copier));
  }
  if (failure) std::rethrow_exception(failure);
}

template <PieceCopier Copier>
std::unique_ptr<Copier> ThreadPool<Copier>::take_copier() {
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      auto copier = std::move(spare_.back());
      spare_.pop_back();
      return copier;
    }
  }
  return std::make_unique<Copier>();
}

template <PieceCopier Copier>
auto ThreadPool<Copier>::free_slot() -> Slot& {
  for (;; pause())
    for (auto& slot : slots_)
      if (!slot.in_use.exchange(true)) return slot;
}

template <PieceCopier Copier>
void ThreadPool<Copier>::serve(const std::stop_token& stop) {
  std::unique_ptr<Copier> copier;
  while (!stop.stop_requested())
    if (!help(copier)) rest(stop);
}

template <PieceCopier Copier>
bool ThreadPool<Copier>::help(std::unique_ptr<Copier>& copier) {
  bool helped = false;
  for (auto& slot : slots_) {
    slot.readers++;
    if (slot.pieces.any_left() && prepare(*slot.job, copier)) {
      slot.copy(*copier);
      helped = true;
    }
    slot.readers--;
  }
  return helped;
}

template <PieceCopier Copier>
bool ThreadPool<Copier>::prepare(const Job& job, std::unique_ptr<Copier>& copier) {
  try {
    job.select_device();
    if (copier == nullptr) copier = take_copier();
    copier->prepare(job);
    return true;
  } catch (...) {
    return false;
  }
}

template <PieceCopier Copier>
void ThreadPool<Copier>::rest(const std::stop_token& stop) {
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 1; !any_work(); round++) {
    if (round % 64 == 0 && std::chrono::steady_clock::now() - begin > spin_) break;
    pause();
  }
  posted_.wait(stop, [&] { return any_work(); });
}

}  // namespace tessera::detail::staging
