// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::test {

/// The status and the output of a program that has ended.
struct Ended {
  int status = -1;  ///< exit status; -1: killed, or out of time
  std::string out, err;
};

/// Runs a program; kills it after `seconds`.
inline Ended run_program(std::vector<std::string> words, unsigned seconds = 30) {
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  const File out(std::tmpfile(), std::fclose), err(std::tmpfile(), std::fclose);
  if (!out || !err) throw std::runtime_error("no temporary file");
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no process");
  if (pid == 0) {
    alarm(seconds);  // the alarm survives execv
    dup2(fileno(out.get()), STDOUT_FILENO), dup2(fileno(err.get()), STDERR_FILENO);
    execv(arguments.front(), arguments.data());
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  const auto text = [](std::FILE* file) {
    std::string all;
    char buffer[4096];
    std::rewind(file);
    while (const auto count = std::fread(buffer, 1, sizeof buffer, file)) all.append(buffer, count);
    return all;
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text(out.get()), text(err.get())};
}

}  // namespace tessera::test
