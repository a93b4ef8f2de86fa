// SPDX-License-Identifier: BSD-3-Clause
#include "quiet_write.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace tessera::dropin {

bool write_quietly(int file, std::string_view text) {
  sigset_t raised, pending, before;
  sigemptyset(&raised), sigaddset(&raised, SIGPIPE), sigaddset(&raised, SIGXFSZ);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &raised, &before);
  const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  for (const int signal : {SIGPIPE, SIGXFSZ})
    if (sigismember(&pending, signal) == 1)
      sigdelset(&raised, signal);  // a signal that was pending before belongs to the program
  constexpr timespec at_once{};
  while (!whole && (sigtimedwait(&raised, nullptr, &at_once) > 0 || errno == EINTR)) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return whole;
}

}  // namespace tessera::dropin
