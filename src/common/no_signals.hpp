// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>

#include "not_copyable.hpp"

namespace tessera::common {

/// Blocks signals in the calling thread during the lifetime of this object. Use it around all code that starts threads,
/// in Tessera or in a library: a new thread inherits the signal mask of its creator. Only the program's own threads
/// then receive signals, in their handlers and in `sigwait`.
///
/// Faults stay unblocked. They are delivered to the thread that causes them. If they were blocked, the kernel would end
/// the process, even if the program has a handler that repairs the cause.
class NoSignals : NotCopyable {
 public:
  NoSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace tessera::common
