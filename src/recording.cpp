// SPDX-License-Identifier: BSD-3-Clause
#include "recording.hpp"

#include <starpu.h>
#include <starpu_fxt.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include <tessera/error.hpp>

#include "codelets/colours.hpp"
#include "session.hpp"
#include "submitted.hpp"

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// What StarPU calls its file until it is whole. It may not keep that name: when another session of this process
/// records, FxT moves what the last one has called so into the new folder, and complains if it is not there.
constexpr const char* unfinished = "prof_file.part";
const fs::path unfinished_file = std::string(unfinished) + "_0";

void leave_something_to_move(const fs::path& folder) {
  static fs::path last;  // sessions start one after another
  if (!last.empty()) std::ofstream(last / unfinished_file).close();
  last = folder;
}

[[noreturn]] void refuse(const fs::path& folder, const std::string& why) {
  throw ArgumentError("Runtime", 6, "trace", "is '" + folder.string() + "', " + why);
}

bool holds_a_trace(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (const auto name = entry.path().filename().string(); name == "run.json" || name.starts_with("prof_file"))
      return true;
  return false;
}

/// Where to record: `wanted`, or beside it if an earlier session of this process has done so there.
fs::path free_folder(const fs::path& wanted) {
  static std::set<fs::path> ours;  // sessions start one after another
  auto folder = fs::absolute(wanted);
  for (int i = 2; ours.contains(folder); i++) folder = fs::absolute(wanted).concat("-" + std::to_string(i));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse(folder, "where no folder can be made: " + error.message());
  if (holds_a_trace(folder)) refuse(folder, "which holds a trace already: remove that, or name another folder");
  ours.insert(folder);
  return folder;
}

/// What the program was called with.
std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (!words.empty()) words.front() = fs::path(words.front()).filename();
  return words;
}

/// StarPU takes whatever is there, and with no room at all it writes for ever.
void require_a_buffer() {
  const char* given = std::getenv("STARPU_TRACE_BUFFER_SIZE");
  if (given == nullptr) return;
  int megabytes = 0;
  const std::string_view text(given);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), megabytes);
  if (error != std::errc{} || end != text.data() + text.size() || megabytes < 1)
    throw ArgumentError("Runtime", 6, "STARPU_TRACE_BUFFER_SIZE",
                        "is '" + std::string(text) + "', must be a number of MiB, at least 1");
}

/// "4 NVIDIA H200, 1 CPU worker"
std::string machine(const Session& session) {
  std::map<std::string, int> gpus;
  for (const int ordinal : session.gpus())
    for (const auto& info : session.gpu_info())
      if (info.ordinal == ordinal) gpus[info.name]++;
  std::string text;
  for (const auto& [name, count] : gpus) text += std::to_string(count) + " " + name + ", ";
  const int cpus = session.cpu_workers();
  return text + std::to_string(cpus) + (cpus == 1 ? " CPU worker" : " CPU workers");
}

/// Position of a GPU among those of the session.
std::size_t gpu_index(const Session& session, int ordinal) {
  const auto& gpus = session.gpus();
  return static_cast<std::size_t>(std::ranges::find(gpus, ordinal) - gpus.begin());
}

ordered_json nodes_json(const Session& session) {
  auto nodes = ordered_json::array();
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
    const bool gpu = starpu_node_get_kind(node) == STARPU_CUDA_RAM;
    auto name = node == STARPU_MAIN_RAM ? std::string("host") : "NUMA " + std::to_string(node);
    if (gpu) name = "GPU " + std::to_string(gpu_index(session, starpu_memory_node_get_devid(node)));
    nodes.push_back({{"id", node}, {"name", name}, {"kind", gpu ? "gpu" : "host"}});
  }
  return nodes;
}

ordered_json workers_json(const Session& session) {
  auto workers = ordered_json::array();
  int cpus = 0;
  std::map<int, int> of_device;
  for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
    const auto id = static_cast<int>(w);
    const bool gpu = starpu_worker_get_type(id) == STARPU_CUDA_WORKER;
    std::string name;
    if (gpu) {
      const auto index = gpu_index(session, starpu_worker_get_devid(id));
      name = "GPU " + std::to_string(index);
      if (session.gpu_workers()[index].size() > 1)
        name += "." + std::to_string(of_device[starpu_worker_get_devid(id)]++);
    } else {
      name = "CPU " + std::to_string(cpus++);
    }
    workers.push_back(
        {{"id", id}, {"name", name}, {"kind", gpu ? "gpu" : "cpu"}, {"node", starpu_worker_get_memory_node(w)}});
  }
  return workers;
}

ordered_json colours_json() {
  ordered_json colours;
  for (const auto& [operation, rgb] : codelets::operation_colours) {
    char text[8];
    std::snprintf(text, sizeof text, "#%06x", rgb);
    colours[std::string(operation)] = {{"colour", text}};
  }
  return colours;
}

}  // namespace

Recording::Recording(const fs::path& folder) : folder_(free_folder(folder)) {
#ifndef STARPU_USE_FXT
  refuse(folder_, "but this StarPU records no traces: it must have been configured --with-fxt");
#endif
  require_a_buffer();
  if (const auto error = write(false); !error.empty()) refuse(folder_, "where nothing can be written: " + error);
  leave_something_to_move(folder_);
  const auto set = [&](const char* name, const std::string& value, TemporaryVariable::IfSet if_set) {
    settings_.emplace_back(name, value, if_set);
  };
  using IfSet = TemporaryVariable::IfSet;
  set("STARPU_FXT_TRACE", "1", IfSet::Replace);
  set("STARPU_FXT_PREFIX", folder_ / "", IfSet::Replace);
  set("STARPU_FXT_SUFFIX", unfinished, IfSet::Replace);
  set("STARPU_GENERATE_TRACE", "0", IfSet::Replace);
  // A full buffer is written while everybody waits: large enough for 100,000 tasks. It takes memory as it fills.
  set("STARPU_TRACE_BUFFER_SIZE", "512", IfSet::Keep);
  // What tessera-trace needs; all events would be three times as many.
  set("STARPU_FXT_EVENTS", "TASK|TASK_VERBOSE|DATA|DSM|DSM_VERBOSE|SCHED", IfSet::Keep);
  starpu_fxt_autostart_profiling(1);  // else all are recorded from the start, whatever that variable says
}

void Recording::begin(const Session& session) {
  session_ = &session;
  ordered_json run;
  run["format"] = "tessera-trace 1";
  run["tessera"] = TESSERA_VERSION;
  run["starpu"] = starpu_version();
  run["command"] = command_line();
  run["machine"] = machine(session);
#ifdef STARPU_SIMGRID
  run["simulated"] = true;
#else
  run["simulated"] = false;
#endif
  run["policy"] = session.policy();
  run["operations"] = colours_json();
  run["nodes"] = nodes_json(session);
  run["workers"] = workers_json(session);
  json_ = run.dump();
  settings_.clear();  // StarPU has read them
  tasks_.assign(starpu_worker_get_count(), 0);
  on_ = true;
  count(-1);
  write(false);  // where this fails, the end will, too, and says so
}

void Recording::count(int sign) {
  for (const auto& [link, bytes] : bytes_by_link()) bytes_[link] += sign * static_cast<std::int64_t>(bytes);
  for (std::size_t w = 0; w < tasks_.size(); w++) {
    starpu_profiling_worker_info info{};
    starpu_profiling_worker_get_info(static_cast<int>(w), &info);  // and sets it to zero
    if (sign > 0) tasks_[w] += info.executed_tasks;
  }
}

void Recording::pause() {
  if (!on_) return;
  starpu_task_wait_for_all();  // StarPU's converter stumbles over a task of which it sees only the end
  starpu_fxt_stop_profiling();
  count(1);
  on_ = false;
}

void Recording::resume() {
  if (on_) return;
  starpu_task_wait_for_all();
  count(-1);
  if (std::ranges::any_of(tasks_, [](std::int64_t tasks) { return tasks > 0; })) interruptions_++;
  else used_.clear();
  if (used_.empty())  // of what is allocated, StarPU records only changes
    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++)
      used_.push_back(starpu_memory_get_used(node));
  starpu_fxt_start_profiling();
  on_ = true;
}

void Recording::end() {
  if (on_) count(1);
  on_ = false;
  auto run = ordered_json::parse(json_);
  run["interruptions"] = interruptions_;
  for (std::size_t node = 0; node < used_.size(); node++) run["nodes"][node]["used"] = used_[node];
  for (std::size_t w = 0; w < tasks_.size(); w++) run["workers"][w]["tasks"] = tasks_[w];
  run["links"] = ordered_json::array();
  for (const auto& [link, bytes] : bytes_) {
    const auto [from, to] = link;
    const double megabytes_per_second =
        starpu_transfer_bandwidth(static_cast<unsigned>(from), static_cast<unsigned>(to));
    run["links"].push_back({{"from", from}, {"to", to}, {"bytes", bytes}, {"rate", 1e6 * megabytes_per_second}});
  }
  json_ = run.dump();
}

void Recording::close() {
  const auto complain = [](const fs::path& file, const std::string& why) {
    std::fprintf(stderr, "tessera: %s cannot be written, so the trace there will be taken for unfinished: %s\n",
                 file.c_str(), why.c_str());
  };
  std::error_code error;
  fs::rename(folder_ / unfinished_file, folder_ / "prof_file_0", error);
  if (error) return complain(folder_ / "prof_file_0", error.message());
  if (const auto why = write(true); !why.empty()) complain(folder_ / "run.json", why);
}

std::string Recording::write(bool complete) const {
  auto run = ordered_json::parse(json_);
  run["complete"] = complete;
  errno = 0;
  std::ofstream file(folder_ / "run.json");
  file << run.dump(1) << '\n';
  file.close();
  return file ? "" : std::strerror(errno);
}

}  // namespace tessera::detail
