// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// How to run a program.
struct Command {
  std::vector<std::string> words;                       ///< the program and its arguments
  std::map<std::string, std::string> environment = {};  ///< added to that of the test
  std::optional<rlim_t> largest_file = {};              ///< bytes; behaves like a full disk
  std::string standard_output = {};                     ///< a file; "": the output is kept in `Ended`
  unsigned seconds = 150;                               ///< the program is killed after this time
};

/// The result of a program.
struct Ended {
  int status = 0;  ///< exit status, or minus the signal that killed the program
  std::string out, err;
};

/// Replaces this process by a program.
[[noreturn]] inline void execute(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments.front(), arguments.data());
  _exit(127);
}

/// Waits for a child process. @return its exit status, or minus the signal that killed it
inline int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Output that a child process writes into a pipe. A limit on the size of files does not affect a pipe.
class CapturedOutput {
 public:
  CapturedOutput() {
    if (pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~CapturedOutput() { close(ends_[0]), close_writer(); }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  int writer() const { return ends_[1]; }
  /// Call this in the parent once the child has started.
  void close_writer() {
    if (const int writer = std::exchange(ends_[1], -1); writer >= 0) close(writer);
  }
  /// @return the output up to and including `end`
  std::string read_to(const std::string& end) const {
    std::string text;
    for (char letter = 0; !text.ends_with(end) && read(ends_[0], &letter, 1) == 1;) text += letter;
    return text;
  }
  /// @return the rest of the output
  std::string read_all() const {
    std::string text;
    char buffer[4096];
    for (ssize_t count; (count = read(ends_[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(count));
    return text;
  }

 private:
  int ends_[2];
};

/// Runs a program to its end.
inline Ended run_program(const Command& command) {
  CapturedOutput out, err;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    alarm(command.seconds);  // stays set in the program
    dup2(out.writer(), STDOUT_FILENO), dup2(err.writer(), STDERR_FILENO);
    if (!command.standard_output.empty() && std::freopen(command.standard_output.c_str(), "w", stdout) == nullptr)
      _exit(127);
    for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
    if (command.largest_file) {
      const rlimit limit{*command.largest_file, *command.largest_file};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    execute(command.words);
  }
  out.close_writer(), err.close_writer();
  auto errors = std::async(std::launch::async, [&] { return err.read_all(); });
  Ended ended;
  ended.out = out.read_all(), ended.err = errors.get();
  ended.status = wait_for(child);
  return ended;
}

inline Ended run_program(std::vector<std::string> words, unsigned seconds = 150) {
  return run_program(Command{.words = std::move(words), .seconds = seconds});
}

}  // namespace tessera::test
