// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::host {

/// While any object of this class exists, a call of the host BLAS uses one thread, because StarPU's workers already
/// provide the parallelism. Each task has one, because between tasks the program controls the number of threads.
/// OpenBLAS has one number for all threads of the process. The first object therefore sets it, and the last one
/// restores it, unless the program has changed it in the meantime.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

  /// Called in a forked child, which lacks the threads that owned such objects.
  static void begin_as_child() noexcept;

 private:
  int before_ = 0;  ///< number of the calling thread, if each thread has its own; otherwise unused
};

}  // namespace tessera::host
