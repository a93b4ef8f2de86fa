// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

#include <tessera/types.hpp>

#include "common/not_copyable.hpp"

namespace tessera::runtime {

/// Counts work that has begun and not ended. A wait covers all work that began before the wait; work that begins later
/// belongs to the next generation. Uses StarPU's mutex and condition variable, because only these work in simulated
/// time.
class Outstanding : common::NotCopyable {
  using Generation = std::uint64_t;

 public:
  Outstanding();
  ~Outstanding();

  /// A piece of work, which begins and ends with this object.
  class One {
   public:
    explicit One(Outstanding& all) noexcept : all_(&all), generation_(all.begin()) {}
    ~One() {
      if (all_ != nullptr) all_->end(generation_);
    }
    One(One&& other) noexcept : all_(std::exchange(other.all_, nullptr)), generation_(other.generation_) {}
    One& operator=(One&&) = delete;

   private:
    Outstanding* all_;
    Generation generation_;
  };

  /// How long a wait polls if it has a core for polling.
  static constexpr std::chrono::milliseconds usual_polling{5};

  /// @param polling  how long the thread polls before it sleeps, if no other thread polls
  void wait(std::chrono::milliseconds polling = {});

  /// Whether all work has ended. Never blocks: returns false if another thread has the lock.
  bool all_have_ended() noexcept;

 private:
  class Look;

  Generation begin() noexcept;
  void end(Generation generation) noexcept;
  bool has_ended(Generation last) const noexcept { return older_.empty() || older_.begin()->first > last; }

  starpu_pthread_mutex_t mutex_;
  starpu_pthread_cond_t generation_ended_;
  Generation newest_ = 0;
  Index of_newest_ = 0;                ///< unfinished work of the newest generation
  std::map<Generation, Index> older_;  ///< unfinished work of each generation that a thread waits for
  std::atomic<Index> ended_ = 0;       ///< number of ended generations; atomic, so that polling needs no mutex
};

}  // namespace tessera::runtime
