// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace tessera::tools {

/// Waits for the end of a child process. @return its status as waitpid reports it
inline int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

inline bool succeeded(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

/// A child process. The destructor kills it and waits for its end.
class ChildProcess {
 public:
  explicit ChildProcess(pid_t id) : id_(id) {}
  ~ChildProcess() {
    if (id_ < 0) return;
    kill(id_, SIGKILL);
    wait();
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// @pre this is the first call
  int wait() { return wait_for(std::exchange(id_, -1)); }

 private:
  pid_t id_;
};

}  // namespace tessera::tools
