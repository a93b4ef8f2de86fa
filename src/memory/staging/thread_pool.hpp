// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "common/not_copyable.hpp"
#include "common/pause.hpp"
#include "host_copies.hpp"

namespace tessera::memory::staging {

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

/// Shares the pieces of a job between the thread that posts it and helping threads. The posting thread also copies, so
/// a job ends even if no other thread is free.
template <PieceCopier Copier>
class ThreadPool : common::NotCopyable {
 public:
  using Job = typename Copier::Job;
  static constexpr std::size_t max_jobs = 16;  ///< jobs at a time; further posting threads wait

  /// @param threads  number of threads; fewer if the system refuses to create them
  /// @param spin     how long a thread without work spins before it sleeps. Usually more tiles follow, and waking up is
  ///                 slow
  explicit ThreadPool(std::size_t threads, std::chrono::microseconds spin = std::chrono::milliseconds(1))
      : helpers_(threads, max_jobs, spin) {
    for (auto& slot : slots_) slot.queue = helpers_.open();
  }

  /// Copies all pieces. Any number of threads may call this at a time.
  /// @throws  the first exception of the calling thread's copier (when created, prepared or used), or of a pool thread
  ///         while it copies a piece. After such a failure, no thread starts another piece. A pool thread that cannot
  ///         select the device, or cannot create or prepare a copier, is not a failure: that thread does not help
  void run(const Job& job);

  std::size_t threads() const { return helpers_.threads(); }
  /// The number of threads that sleep until a job is posted.
  int asleep() const { return helpers_.asleep(); }

 private:
  /// The place where a thread posts a job.
  struct alignas(64) Slot {  // cache lines not shared with others
    std::atomic<bool> in_use = false;
    Pieces pieces;
    const Job* job = nullptr;
    std::mutex failing;
    std::exception_ptr failure;  // guarded by failing
    std::size_t queue = 0;
    std::uint32_t begin = 0, ended = 0;  ///< counters of the posted help, which may begin at once

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
  /// The part of a helping thread in a job.
  struct Help {
    ThreadPool* pool;
    Slot* slot;
    void operator()(int /*part*/) const { pool->help(*slot); }
  };

  std::unique_ptr<Copier> take_copier();
  void give_back(std::unique_ptr<Copier> copier) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(copier));
  }
  Slot& free_slot();
  void help(Slot& slot);

  std::array<Slot, max_jobs> slots_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Copier>> spare_;  // guarded by mutex_
  HostCopies<Help> helpers_;                    // last, so that its threads end before the other members are destroyed
};

template <PieceCopier Copier>
void ThreadPool<Copier>::run(const Job& job) {
  auto copier = take_copier();
  copier->prepare(job);
  auto& slot = free_slot();
  slot.job = &job;
  const int count = job.piece_count();
  int helping = std::min(static_cast<int>(threads()), count - 1);
  slot.pieces.open(count);
  const auto number = helpers_.new_job();
  try {
    if (helping > 0)
      helpers_.post(slot.queue, {{this, &slot}, {&slot.begin, slot.begin}, {&slot.ended, slot.ended}, number, helping});
  } catch (const std::bad_alloc&) {
    helping = 0;
  }
  slot.copy(*copier);  // returns when no pieces are left
  if (helping > 0) helpers_.withdraw(slot.queue, number);
  const auto failure = std::exchange(slot.failure, nullptr);
  slot.in_use = false;
  give_back(std::move(copier));
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
  for (;; common::pause())
    for (auto& slot : slots_)
      if (!slot.in_use.exchange(true)) return slot;
}

template <PieceCopier Copier>
void ThreadPool<Copier>::help(Slot& slot) {
  if (!slot.pieces.any_left()) return;
  std::unique_ptr<Copier> copier;
  try {
    slot.job->select_device();
    copier = take_copier();
    copier->prepare(*slot.job);
    slot.copy(*copier);
  } catch (...) {  // this thread does not help: the others copy all pieces
  }
  if (copier != nullptr) give_back(std::move(copier));
}

}  // namespace tessera::memory::staging
