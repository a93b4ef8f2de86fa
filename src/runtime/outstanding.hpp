// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <utility>

#include <tessera/types.hpp>

namespace tessera::detail {

/// Counts what has begun and not ended. A wait covers what began before it; what begins later belongs to another
/// generation. It uses StarPU's mutex and condition, since only these work in simulated time.
class Outstanding {
  using Generation = std::uint64_t;

 public:
  Outstanding();
  ~Outstanding();
  Outstanding(const Outstanding&) = delete;
  Outstanding& operator=(const Outstanding&) = delete;

  /// Something that has begun; it ends with this object.
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

  /// @param awake  whether the thread looks for the end for some milliseconds, before it sleeps
  void wait(bool awake = false);

  /// Whether everything has ended. Does not wait, not even for the lock: false if somebody has it.
  bool all_have_ended() noexcept;

 private:
  class Look;

  Generation begin() noexcept;
  void end(Generation generation) noexcept;
  bool has_ended(Generation last) const noexcept { return older_.empty() || older_.begin()->first > last; }

  starpu_pthread_mutex_t mutex_;
  starpu_pthread_cond_t generation_ended_;
  Generation newest_ = 0;
  Index of_newest_ = 0;                ///< how many of the newest have not ended
  std::map<Generation, Index> older_;  ///< how many of each generation that is waited for have not ended
  std::atomic<Index> ended_ = 0;       ///< generations; read without the mutex, which those who end something need
};

}  // namespace tessera::detail
