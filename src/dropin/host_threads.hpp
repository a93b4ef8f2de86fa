// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>

#include "common/not_copyable.hpp"
#include "host.hpp"

namespace tessera::dropin {

/// Makes the host BLAS compute calls on the calling threads. Its own threads have the floating-point mode of the thread
/// that created them, regardless of the caller's mode.
///
/// OpenBLAS has one number of threads for the whole process, so concurrent calls of other threads also use one thread.
/// A host BLAS without OpenBLAS's functions is not changed.
class HostThreads {
 public:
  explicit HostThreads(const HostBlas& blas);

  /// Calls use one thread until each `hold` has been matched by a `release`.
  void hold();
  void release();

  /// Fork handlers. The child has none of the threads that held the number, and the number is reset to that of the
  /// program.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  void after_fork_in_child(bool locked);

 private:
  int (*get_)() = nullptr;
  void (*set_)(int) = nullptr;
  std::mutex mutex_;
  int holders_ = 0;  // guarded by mutex_
  int before_ = 0;   ///< the program's number; guarded by mutex_
};

/// Holds the number of threads during the lifetime of this object.
class OneHostThread : common::NotCopyable {
 public:
  explicit OneHostThread(HostThreads& threads) : threads_(threads) { threads_.hold(); }
  ~OneHostThread() { threads_.release(); }

 private:
  HostThreads& threads_;
};

}  // namespace tessera::dropin
