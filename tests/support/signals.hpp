// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// Which threads take the signals of a process. For programs with and without GoogleTest.
namespace tessera::test {

/// The signals that a program may wait for or handle, as bits of the masks in /proc. Faults are not among them.
inline std::uint64_t signals_of_programs() {
  std::uint64_t bits = 0;
  for (const int signal :
       {SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGUSR1,   SIGUSR2, SIGPIPE,  SIGALRM, SIGTERM,  SIGCHLD,
        SIGCONT, SIGTSTP, SIGURG,  SIGXFSZ, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO,   SIGRTMIN, SIGRTMAX})
    bits |= std::uint64_t{1} << (signal - 1);
  return bits;
}

/// The threads of this process, by number.
inline std::vector<pid_t> threads_now() {
  std::vector<pid_t> threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    threads.push_back(std::stoi(task.path().filename()));
  return threads;
}

/// The threads that do not block all of these signals, with their names and masks.
/// @param own  threads of the program itself
inline std::vector<std::string> threads_that_take_signals(const std::vector<pid_t>& own = {getpid()}) {
  std::vector<std::string> found;
  for (const pid_t thread : threads_now()) {
    if (std::ranges::find(own, thread) != own.end()) continue;
    std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
    std::string name, blocked;
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("Name:")) name = line.substr(6);
      else if (line.starts_with("SigBlk:")) blocked = line.substr(8);
    if (blocked.empty()) continue;  // it has ended
    if ((std::stoull(blocked, nullptr, 16) & signals_of_programs()) != signals_of_programs())
      found.push_back(name + " blocks only " + blocked);
  }
  return found;
}

}  // namespace tessera::test
