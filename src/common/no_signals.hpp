// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <initializer_list>

namespace tessera::detail {

/// Blocks the signals of the calling thread for as long as this object lives. A new thread inherits the mask of the
/// thread that starts it. Around everything that starts threads, ours or those of a library, this makes them leave the
/// program's signals to the program's threads: its handlers run there, and its `sigwait` gets what it waits for.
///
/// Faults stay unblocked. They are signals of the thread that causes them, and the kernel ends a process where they are
/// blocked, even if the program has a handler that repairs what was wrong.
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
