// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <initializer_list>

namespace tessera::detail {

/// Blocks signals in the calling thread during the lifetime of this object. A new thread inherits the signal mask of
/// the thread that starts it. Use this around everything that starts threads, of Tessera or of a library. Signals are
/// then delivered only to the program's own threads: its handlers run there, and its `sigwait` receives them.
///
/// Faults stay unblocked. They are delivered to the thread that causes them, and if they are blocked, the kernel ends
/// the process, even if the program has a handler that would repair the cause.
class NoSignals {
 public:
  NoSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace tessera::detail
