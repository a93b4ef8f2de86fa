// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::host {

/// While any of these lives, a call of the host BLAS uses one thread: StarPU's workers are the parallelism. One for
/// each task, since the number of threads is the program's between tasks. OpenBLAS has one number for all threads of
/// the process, so the first of these sets it, and the last one restores it unless the program has set it meanwhile.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

  /// In a forked child, which has none of the threads that these lived on.
  static void begin_as_child() noexcept;

 private:
  int before_ = 0;  ///< of the calling thread, where each has its own number; else unused
};

}  // namespace tessera::host
