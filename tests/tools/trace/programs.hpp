// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "files.hpp"

namespace tessera::trace {

/// How a program is started.
struct Command {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;  ///< beside what there is
  std::optional<rlim_t> largest_file;              ///< bytes: what a full disk looks like
  std::string standard_output;                     ///< a file; empty: it is part of the result
};

struct Outcome {
  int code = -1;       ///< negative: a signal
  std::string output;  ///< also of standard error
};

inline Outcome run(const Command& command) {
  int ends[2];
  if (pipe(ends) != 0) throw RuntimeError("no pipe can be made");
  const auto child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO), dup2(ends[1], STDERR_FILENO);
    close(ends[0]), close(ends[1]);
    if (!command.standard_output.empty() && std::freopen(command.standard_output.c_str(), "w", stdout) == nullptr)
      _exit(127);
    for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
    if (command.largest_file) {
      const rlimit limit{*command.largest_file, *command.largest_file};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::vector<char*> words;
    for (const auto& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  close(ends[1]);
  Outcome ended;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    ended.output.append(buffer, static_cast<std::size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return ended;
}

}  // namespace tessera::trace
