// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/not_copyable.hpp"

namespace tessera::device::cpu {

/// While any object of this class exists, a call of the host BLAS uses one thread, because StarPU's workers already
/// provide the parallelism. Objects live only during a task, because the program controls the number of threads at all
/// other times. OpenBLAS has one number for all threads of the process. The first object therefore sets it to 1, and
/// the last object restores it, unless the program has changed it in the meantime.
class OneThread : common::NotCopyable {
 public:
  OneThread();
  ~OneThread();

  /// Forgets all objects in a forked child, in which the threads that owned them do not exist.
  static void begin_as_child() noexcept;

 private:
  int before_ = 0;  ///< number of the calling thread, if each thread has its own; otherwise unused
};

}  // namespace tessera::device::cpu
