// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>
#include <starpu_scheduler.h>

#include <atomic>

#include "common/pause.hpp"

namespace tessera::scheduler {

/// StarPU's mutex, which also works in simulated time, unlike the standard one.
class Mutex {
 public:
  Mutex() { STARPU_PTHREAD_MUTEX_INIT(&mutex_, NULL); }
  ~Mutex() { STARPU_PTHREAD_MUTEX_DESTROY(&mutex_); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend class Lock;
  starpu_pthread_mutex_t mutex_;
  std::atomic<bool> held_ = false;  ///< approximate, for spinning threads
};

/// Holds a mutex. While a worker waits for it, StarPU may change the worker's scheduling contexts.
class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) {
    if (!spin()) {
      starpu_worker_relax_on();
      STARPU_PTHREAD_MUTEX_LOCK(&mutex_.mutex_);
      starpu_worker_relax_off();
    }
    mutex_.held_.store(true, std::memory_order_relaxed);
  }
  ~Lock() {
    mutex_.held_.store(false, std::memory_order_relaxed);
    STARPU_PTHREAD_MUTEX_UNLOCK(&mutex_.mutex_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  /// Tries for a while: the holder usually releases the mutex within a few microseconds, while sleeping and waking up
  /// takes longer. Tries only while the mutex seems free, because each attempt takes its cache line from the holder.
  /// @returns  whether this thread holds the mutex now
  bool spin() {
#ifndef STARPU_SIMGRID  // simulated time does not advance while a thread spins
    for (int attempt = 0; attempt < 200; attempt++) {
      if (!mutex_.held_.load(std::memory_order_relaxed) && starpu_pthread_mutex_trylock(&mutex_.mutex_) == 0)
        return true;
      common::pause();
    }
#endif
    return false;
  }

  Mutex& mutex_;
};

}  // namespace tessera::scheduler
