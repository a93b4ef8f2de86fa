// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/gantt.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <tessera/error.hpp>

namespace tessera::simulate {

namespace {

namespace fs = std::filesystem;

std::string last_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line, last;
  while (std::getline(stream, line))
    if (!line.empty()) last = line;
  return last;
}

/// Runs a program in the scratch folder.
void run(std::vector<std::string> words, const Scratch& scratch) {
  const auto log = scratch.folder / "log";
  std::vector<char*> arguments(words.size() + 1);  // the last one stays null
  std::ranges::transform(words, arguments.begin(), [](std::string& word) { return word.data(); });
  const pid_t pid = fork();
  if (pid == 0) {
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || chdir(scratch.folder.c_str()) != 0) _exit(126);
    dup2(out, STDOUT_FILENO), dup2(out, STDERR_FILENO);
    // StarPU's tools are programs that simulate, too, and look for a machine.
    setenv("STARPU_PERF_MODEL_DIR", scratch.folder.c_str(), 1), setenv("STARPU_HOSTNAME", Scratch::host, 1);
    execvp(arguments.front(), arguments.data());
    _exit(127);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const bool missing = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127;
    throw RuntimeError("--gantt: " + words.front() + (missing ? " is not there" : " failed: " + last_line(log)));
  }
}

fs::path find_trace(const Scratch& scratch) {
  for (const auto& entry : fs::directory_iterator(scratch.folder))
    if (entry.path().filename().string().starts_with("prof_file")) return entry.path();
  throw RuntimeError("--gantt: StarPU has written no trace; it must have been built with FxT");
}

}  // namespace

void draw_gantt(const Scratch& scratch, const fs::path& svg) {
  const auto drawn = scratch.folder / "gantt.svg";
  run({TESSERA_STARPU_BIN "/starpu_fxt_tool", "-i", find_trace(scratch)}, scratch);
  run({"vite", "-e", drawn, "paje.trace"}, scratch);
  std::error_code error;
  fs::copy_file(drawn, svg, fs::copy_options::overwrite_existing, error);
  if (error) throw RuntimeError("--gantt: " + svg.string() + " cannot be written: " + error.message());
}

}  // namespace tessera::simulate
