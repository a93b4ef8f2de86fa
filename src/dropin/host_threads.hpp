// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>

#include "host.hpp"

namespace tessera::dropin {

/// Makes the host BLAS compute calls on the threads that make them. Its own threads have the floating-point mode of the
/// thread that has created them, whatever the caller's is.
///
/// OpenBLAS has one number of threads for the whole process, so calls of other threads also use one thread in that
/// time. A host BLAS without OpenBLAS's functions is not changed.
class HostThreads {
 public:
  explicit HostThreads(const HostBlas& blas);

  /// Calls use one thread until each `hold` has had its `release`.
  void hold();
  void release();

  /// Handlers of fork. The child has none of the threads that held the number, and gets that of the program.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  void after_fork_in_child(bool locked);

 private:
  int (*get_)() = nullptr;
  void (*set_)(int) = nullptr;
  std::mutex mutex_;
  int holders_ = 0;  // guarded by mutex_
  int before_ = 0;   ///< what the program has set; guarded by mutex_
};

/// Holds the number of threads for as long as this object lives.
class OneHostThread {
 public:
  explicit OneHostThread(HostThreads& threads) : threads_(threads) { threads_.hold(); }
  ~OneHostThread() { threads_.release(); }
  OneHostThread(const OneHostThread&) = delete;
  OneHostThread& operator=(const OneHostThread&) = delete;

 private:
  HostThreads& threads_;
};

}  // namespace tessera::dropin
