// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

#include <tessera/types.hpp>

namespace tessera::detail {

/// Counts things that have begun and not ended. A wait covers everything that began before it; later ones belong to
/// another generation. Uses StarPU's mutex and condition variable, because only these work in simulated time.
class Outstanding {
  using Generation = std::uint64_t;

 public:
  Outstanding();
  ~Outstanding();
  Outstanding(const Outstanding&) = delete;
  Outstanding& operator=(const Outstanding&) = delete;

  /// Something that has begun and ends with this object.
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

  /// How long a wait polls that has a core for it.
  static constexpr std::chrono::milliseconds usual_polling{5};

  /// @param polling  how long the thread polls before it sleeps, if no other thread polls
  void wait(std::chrono::milliseconds polling = {});

  /// Whether everything has ended. Never waits, not even for the lock: false if another thread holds it.
  bool all_have_ended() noexcept;

 private:
  class Look;

  Generation begin() noexcept;
  void end(Generation generation) noexcept;
  bool has_ended(Generation last) const noexcept { return older_.empty() || older_.begin()->first > last; }

  starpu_pthread_mutex_t mutex_;
  starpu_pthread_cond_t generation_ended_;
  Generation newest_ = 0;
  Index of_newest_ = 0;                ///< number of the newest generation that have not ended
  std::map<Generation, Index> older_;  ///< by generation that is waited for: number that have not ended
  std::atomic<Index> ended_ = 0;       ///< number of ended generations; atomic, so that polling does not hold up
                                       ///< threads that need the mutex
};

}  // namespace tessera::detail
