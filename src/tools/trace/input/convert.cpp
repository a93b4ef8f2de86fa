// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <starpu.h>
#include <starpu_fxt.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include <tessera/error.hpp>

#include "shared/child_process.hpp"
#include "shared/exit_code.hpp"
#include "trace/input/read_run.hpp"

namespace tessera::trace {

namespace {

namespace fs = std::filesystem;

/// A file descriptor, closed with this object.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int operator*() const { return number_; }

 private:
  int number_;
};

/// One of StarPU's output files. StarPU writes it through a pipe, because it would not notice a full disk.
class Output {
 public:
  explicit Output(fs::path file) : file_(std::move(file)) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw RuntimeError(std::string("cannot create a pipe: ") + std::strerror(errno));
    reading_ = Descriptor(ends[0]), writing_ = Descriptor(ends[1]);
    into_ = Descriptor(open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (*into_ < 0) fail();
  }

  /// The path for StarPU to open, allocated with malloc because StarPU frees it.
  char* name() const { return strdup(fmt::format("/proc/self/fd/{}", *writing_).c_str()); }
  int writing() const { return *writing_; }
  int reading() const { return *reading_; }
  void started() { writing_ = Descriptor(); }
  /// @return false at the end of the output
  bool forward(std::vector<char>& buffer) {
    const auto count = ::read(*reading_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) return true;
    for (ssize_t done = 0; done < count;) {
      const auto written = ::write(*into_, buffer.data() + done, static_cast<std::size_t>(count - done));
      if (written < 0 && errno != EINTR) fail();
      done += std::max<ssize_t>(written, 0);
    }
    return count > 0;
  }

 private:
  [[noreturn]] void fail() const {
    throw RuntimeError(fmt::format("{}: cannot be written: {}", file_.string(), std::strerror(errno)));
  }

  fs::path file_;
  Descriptor reading_, writing_, into_;
};

struct Outputs {
  Output paje, tasks, data, pushes, messages;
  std::array<Output*, 5> all() { return {&paje, &tasks, &data, &pushes, &messages}; }
};

/// Seconds of a core after which a conversion is stopped: StarPU may loop forever on a damaged file.
rlim_t seconds_for(const fs::path& trace) {
  constexpr rlim_t least = 20, bytes_per_second = 100'000;  // intact files need far less
  return least + fs::file_size(trace) / bytes_per_second;
}

/// Converts the trace. Call this in a child process, because a failed assertion in StarPU ends the process.
[[noreturn]] void let_starpu_convert(const fs::path& trace, const Outputs& outputs) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // without the parent, nobody reads the output
  const rlimit no_core{0, 0}, enough{seconds_for(trace), seconds_for(trace)};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_CPU, &enough);
  signal(SIGABRT, SIG_DFL), signal(SIGSEGV, SIG_DFL);
  dup2(outputs.messages.writing(), STDOUT_FILENO);
  dup2(outputs.messages.writing(), STDERR_FILENO);
  static starpu_fxt_options options;
  starpu_fxt_options_init(&options);
  options.use_task_color = 1;
  std::string name = trace;
  options.ninputfiles = 1, options.filenames[0] = name.data();
  const auto replace = [](char*& path, char* by) { free(path), path = by; };
  replace(options.out_paje_path, outputs.paje.name());
  replace(options.tasks_path, outputs.tasks.name());
  replace(options.data_path, outputs.data.name());
  replace(options.sched_tasks_path, outputs.pushes.name());
  replace(options.anim_path, strdup("/dev/null"));  // without a name, StarPU would write through a null pointer
  for (auto* path : {&options.dag_path, &options.comms_path, &options.number_events_path, &options.papi_path,
                     &options.states_path, &options.distrib_time_path, &options.activity_path})
    replace(*path, nullptr);
  starpu_fxt_generate_trace(&options);
  _exit(EXIT_SUCCESS);
}

/// Copies all outputs to their files until all have ended.
void forward(Outputs& outputs) {
  const auto all = outputs.all();
  std::array<pollfd, std::tuple_size_v<decltype(outputs.all())>> polled{};
  for (std::size_t i = 0; i < all.size(); i++) polled[i] = {all[i]->reading(), POLLIN, 0};
  std::vector<char> buffer(1 << 16);
  for (auto left = all.size(); left > 0;) {
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
      throw RuntimeError(std::string("cannot read StarPU's messages: ") + std::strerror(errno));
    for (std::size_t i = 0; i < all.size(); i++)
      if (polled[i].revents != 0 && !all[i]->forward(buffer)) polled[i].fd = -1, polled[i].revents = 0, left--;
  }
}

bool ended(const fs::path& folder) {
  std::ifstream file(folder / "run.json");
  const auto run = nlohmann::json::parse(file, nullptr, false);
  return !run.is_object() || run.value("complete", true);
}

fs::path find_trace(const fs::path& folder) {
  std::error_code error;
  std::set<fs::path> found, of_processes;
  fs::directory_iterator entries(folder, error);
  if (error) throw RuntimeError(fmt::format("{}: the folder cannot be read: {}", folder.string(), error.message()));
  for (const auto& entry : entries) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("prof_file")) found.insert(entry.path());
    if (name.starts_with("process-")) of_processes.insert(entry.path());
  }
  if (found.size() > 1)
    throw tools::BadArgument(fmt::format("{}: contains several traces, {} and {}: keep only one of them there",
                                         folder.string(), found.begin()->filename().string(),
                                         found.rbegin()->filename().string()));
  if (found.empty() && !of_processes.empty())
    throw tools::BadArgument(fmt::format("{}: contains the traces of several processes: name one of them, such as {}",
                                         folder.string(), of_processes.begin()->string()));
  if (found.empty() && !ended(folder))
    throw tools::BadArgument(folder.string() +
                             ": the recorded program has not ended or was killed: StarPU writes the "
                             "trace when the program ends");
  if (found.empty())
    throw tools::BadArgument(folder.string() +
                             ": contains no trace (prof_file_0): record one with TESSERA_TRACE=" + folder.string());
  if (!fs::is_regular_file(*found.begin(), error))
    throw tools::BadArgument(found.begin()->string() + ": is not a file");
  if (fs::file_size(*found.begin(), error) == 0)
    throw tools::BadArgument(found.begin()->string() + ": is empty: the program was killed, or its disk was full");
  return *found.begin();
}

/// StarPU's last message without its prefix, which says why the conversion failed.
std::string last_line(const fs::path& messages) {
  std::ifstream file(messages);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) last = line;
  const auto prefix = last.starts_with('[') ? last.rfind("] ") : last.npos;
  return prefix == last.npos ? last : last.substr(prefix + 2);
}

}  // namespace

std::vector<std::string> convert(const fs::path& folder, const fs::path& records) {
  const auto trace = find_trace(folder);
  Outputs outputs{Output(records / "paje.trace"), Output(records / "tasks.rec"), Output(records / "data.rec"),
                  Output(records / "sched_tasks.rec"), Output(records / "messages")};
  const auto id = fork();
  if (id == 0) let_starpu_convert(trace, outputs);
  if (id < 0) throw RuntimeError(std::string("cannot start a process: ") + std::strerror(errno));
  tools::ChildProcess child(id);
  for (auto* one : outputs.all()) one->started();
  forward(outputs);
  const bool converted = tools::succeeded(child.wait());
  const auto words = last_line(records / "messages");
  if (!converted)
    throw RuntimeError(
        fmt::format("{}: StarPU {}.{}.{} cannot read it: it is not a StarPU trace, or it is damaged ({})",
                    trace.string(), STARPU_MAJOR_VERSION, STARPU_MINOR_VERSION, STARPU_RELEASE_VERSION,
                    words.empty() ? "it crashes or does not end" : words));
  if (words.empty()) return {};
  return {"StarPU reports about the trace: " + words};
}

}  // namespace tessera::trace
