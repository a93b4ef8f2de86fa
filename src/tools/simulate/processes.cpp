// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <tessera/sched.h>
#include <tessera/error.hpp>

#include "common/not_copyable.hpp"
#include "shared/child_process.hpp"
#include "simulate/outcome.hpp"
#include "simulate/simulation.hpp"

namespace tessera::simulate {

namespace {

/// A running simulation and its output so far.
class Child : common::NotCopyable {
 public:
  Child(const Options& options, const Run& run, const Scratch& scratch) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw RuntimeError(std::string("cannot create a socket: ") + std::strerror(errno));
    if (!options.program.empty()) send(ends[0], &options.problems.front().type, 1, 0);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw RuntimeError(std::string("cannot start a process for a simulation: ") + std::strerror(errno));
    if (child == 0) {
      close(ends[0]);
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with its parent, because nobody would read the result
      if (getppid() != parent) _exit(1);
      dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output is reserved for results
      if (!options.program.empty()) become_program(options, run, scratch, ends[1]);
      become_simulation(options, run, scratch, ends[1]);
    }
    close(ends[1]);
    socket_ = ends[0];
    process_.emplace(child);
  }
  ~Child() { close(socket_); }

  int socket() const { return socket_; }

  /// Reads the available output. @return the outcome once the simulation has ended
  std::optional<Outcome> read_some() {
    char buffer[4096];
    const auto count = read(socket_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) return std::nullopt;
    if (count > 0) {
      text_.append(buffer, static_cast<std::size_t>(count));
      return std::nullopt;
    }
    const int status = process_->wait();
    if (tools::succeeded(status))
      if (auto whole = read_outcome(text_)) return whole;
    Outcome outcome;
    outcome.error =
        WIFSIGNALED(status)
            ? std::string("the simulation was killed by ") + strsignal(WTERMSIG(status))
            : "the simulation ended without a result; any explanation from StarPU, SimGrid or the program is above";
    return outcome;
  }

 private:
  std::optional<tools::ChildProcess> process_;
  int socket_ = -1;
  std::string text_;
};

}  // namespace

void run_all(const Options& options, const std::vector<Run>& runs, const Scratch& scratch,
             const std::function<void(const Run&, const Outcome&)>& done) {
  std::vector<std::unique_ptr<Child>> children(runs.size());
  std::vector<std::optional<Outcome>> outcomes(runs.size());
  std::size_t started = 0, reported = 0;
  int running = 0;
  while (reported < runs.size()) {
    for (; running < options.jobs && started < runs.size(); started++, running++)
      children[started] = std::make_unique<Child>(options, runs[started], scratch);
    std::vector<pollfd> waiting;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < started; i++)
      if (children[i]) {
        waiting.push_back({children[i]->socket(), POLLIN, 0});
        which.push_back(i);
      }
    poll(waiting.data(), waiting.size(), -1);
    for (std::size_t w = 0; w < waiting.size(); w++) {
      if (waiting[w].revents == 0) continue;
      const auto i = which[w];
      if ((outcomes[i] = children[i]->read_some())) {
        children[i].reset();
        running--;
      }
    }
    for (; reported < runs.size() && outcomes[reported]; reported++) done(runs[reported], *outcomes[reported]);
  }
}

namespace {

namespace fs = std::filesystem;

/// The folder of the libraries of this build or installation.
fs::path library_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&tessera_sched_policy), &info);
  return fs::canonical(info.dli_fname).parent_path();
}

[[noreturn]] void fail(const std::string& error, bool bad_argument, int result) {
  Outcome outcome;
  outcome.error = error, outcome.bad_argument = bad_argument;
  _exit(write_outcome(result, outcome) ? 0 : 1);
}

/// Sets the variables for the program's StarPU, and the library to load before the program.
void put_program_environment(const Run& run) {
  const auto libraries = library_folder();
  const auto put = [](const char* name, const std::string& value) { setenv(name, value.c_str(), 1); };
  put("STARPU_SCHED", run.policy);
  // Other policies are in StarPU, or in the library of --policy-library, which this variable already names.
  if (run.policy == "tessera") put("STARPU_SCHED_LIB", libraries / TESSERA_SCHED);
  put("STARPU_NCUDA", std::to_string(run.gpus));
  put("STARPU_NCPU", std::to_string(run.cpus));
  put("STARPU_SILENT", "1");
  const char* others = std::getenv("LD_PRELOAD");
  put("LD_PRELOAD",
      (libraries / "libtessera_observer.so").string() + (others != nullptr ? std::string(":") + others : ""));
}

}  // namespace

void become_program(const Options& options, const Run& run, const Scratch& scratch, int result) {
  put_environment(options.platform, scratch, options.gpu_memory, options.machine);
  put_program_environment(run);
  // The descriptor must stay open in the program. dup2 would keep the close-on-exec flag if both descriptors were the
  // same.
  if ((result == hand_over ? fcntl(result, F_SETFD, 0) : dup2(result, hand_over)) < 0)
    fail(fmt::format("cannot pass descriptor {} to the program: {}", hand_over, std::strerror(errno)), false, result);
  auto words = options.program;
  words.emplace_back("--log=root.thresh:warning");  // SimGrid removes this argument
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(arguments.front(), arguments.data());
  fail(fmt::format("--program: {} cannot be started: {}", words.front(), std::strerror(errno)), true, result);
}

}  // namespace tessera::simulate
