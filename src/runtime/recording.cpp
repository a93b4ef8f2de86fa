// SPDX-License-Identifier: BSD-3-Clause
#include "recording.hpp"

#include <starpu.h>
#include <starpu_fxt.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include <tessera/error.hpp>

#include "all_tasks.hpp"
#include "common/variables.hpp"
#include "common/whole_file.hpp"
#include "counters.hpp"
#include "run_json.hpp"

namespace tessera::runtime {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Name of StarPU's trace file until the trace is complete and `close` renames it. FxT appends the MPI rank of the
/// process, or 0.
constexpr const char* unfinished = "prof_file.part";

/// The trace file of the last recording, under the name that it had before `close`. Needs no lock, because sessions
/// start one after another. Never destroyed, because a session may end while the process exits.
auto& last_file = *new fs::path;

/// Creates an empty file under the name of the last recording. When a later session of this process records, FxT moves
/// this file into the new folder, and complains if it is missing.
void leave_something_to_move() {
  if (!last_file.empty()) std::ofstream(last_file).close();
}

/// The trace file that StarPU has written, or its usual name if there is none.
fs::path unfinished_file(const fs::path& folder) {
  const auto start = std::string(unfinished) + "_";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(start)) return entry.path();
  return folder / (start + "0");
}

[[noreturn]] void refuse(const fs::path& folder, const std::string& why) {
  throw common::option_error("trace", "is '" + folder.string() + "', " + why);
}

bool holds_a_trace(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (const auto name = entry.path().filename().string(); name == "run.json" || name.starts_with("prof_file"))
      return true;
  return false;
}

/// Checks STARPU_TRACE_BUFFER_SIZE. StarPU accepts any value, but writes endlessly if the buffer is too small.
void require_a_buffer() {
  if (std::getenv("STARPU_TRACE_BUFFER_SIZE") == nullptr) return;
  const auto text = common::environment("STARPU_TRACE_BUFFER_SIZE");
  if (common::as_number<int>(text).value_or(0) < 1)
    throw common::option_error("STARPU_TRACE_BUFFER_SIZE",
                               "is '" + std::string(text) + "', must be a number of MiB, at least 1");
}

/// Folders in which sessions of this process have recorded. Needs no lock: sessions start one after another. Never
/// destroyed: a session may start or end while the process exits.
auto& ours = *new std::set<fs::path>;

/// Creates the folder to record in: `wanted`, or `wanted`-2 and so on if an earlier session of this process used it.
fs::path free_folder(const fs::path& wanted) {
  auto folder = fs::absolute(wanted);
  for (int i = 2; ours.contains(folder); i++) folder = fs::absolute(wanted).concat("-" + std::to_string(i));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse(folder, "where no folder can be created: " + error.message());
  if (holds_a_trace(folder)) refuse(folder, "which already contains a trace: remove it, or name another folder");
  return folder;
}

/// Returns the new folder, after checking everything else that could prevent a recording.
fs::path prepare(const fs::path& wanted) {
#ifndef STARPU_USE_FXT
  refuse(wanted, "but this StarPU records no traces: it must have been configured --with-fxt");
#endif
  require_a_buffer();
  return free_folder(wanted);
}

}  // namespace

Recording::Recording(const fs::path& folder) : folder_(prepare(folder)) {
  if (const auto error = write(false); !error.empty()) refuse(folder_, "where nothing can be written: " + error);
  ours.insert(folder_);
  leave_something_to_move();
  last_file = folder_ / (last_file.empty() ? std::string(unfinished) + "_0" : last_file.filename().string());
}

void Recording::announce_in(common::StarpuVariables& variables) const {
  using IfSet = common::StarpuVariables::IfSet;
  variables.set("STARPU_FXT_TRACE", "1", IfSet::Replace);
  name_file_in(variables);
  variables.set("STARPU_GENERATE_TRACE", "0", IfSet::Replace);
  // The events that tessera-trace needs, unless the user names others. All events would be three times as many. StarPU
  // modifies this text in place, so it gets a copy.
  const std::string given(common::environment("STARPU_FXT_EVENTS"));
  const std::string needed = "TASK|TASK_VERBOSE|DATA|DSM|DSM_VERBOSE|SCHED";
  variables.set("STARPU_FXT_EVENTS", given.empty() ? needed : given, IfSet::Replace);
}

void Recording::name_file_in(common::StarpuVariables& variables) const {
  using IfSet = common::StarpuVariables::IfSet;
  variables.set("STARPU_FXT_PREFIX", folder_ / "", IfSet::Replace);
  variables.set("STARPU_FXT_SUFFIX", unfinished, IfSet::Replace);
}

void Recording::choose_events() { starpu_fxt_autostart_profiling(1); }  // without it, StarPU records all events

void Recording::begin(const machine::Machine& machine, const std::string& policy) {
  // Words of the command line may not be valid UTF-8.
  json_ = run_json(machine, policy).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  tasks_.assign(starpu_worker_get_count(), 0);
  on_ = true;
  count(-1);
  write(false);  // if this fails, close() also fails and reports it
}

void Recording::count(int sign) {
  for (const auto& [link, bytes] : bytes_by_link()) bytes_[link] += sign * static_cast<std::int64_t>(bytes);
  for (std::size_t w = 0; w < tasks_.size(); w++) {
    starpu_profiling_worker_info info{};
    starpu_profiling_worker_get_info(static_cast<int>(w), &info);  // also resets the counts to zero
    if (sign > 0) tasks_[w] += info.executed_tasks;
  }
}

void Recording::pause() {
  if (!on_) return;
  wait_for_all_tasks();  // StarPU's converter cannot handle a task that ends without having started
  starpu_fxt_stop_profiling();
  count(1);
  on_ = false;
}

void Recording::resume() {
  if (on_) return;
  wait_for_all_tasks();
  count(-1);
  if (std::ranges::any_of(tasks_, [](std::int64_t tasks) { return tasks > 0; })) interruptions_++;
  else used_.clear();
  if (used_.empty())  // StarPU records only changes of allocated memory
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
  const auto complain = [](const std::string& what) {
    std::fprintf(stderr, "tessera: %s; the trace there will be considered unfinished\n", what.c_str());
  };
  last_file = unfinished_file(folder_);
  std::error_code error;
  fs::rename(last_file, folder_ / "prof_file_0", error);
  if (error) return complain((folder_ / "prof_file_0").string() + " cannot be written: " + error.message());
  if (const auto why = write(true); !why.empty()) complain(why);
}

std::string Recording::write(bool complete) const {
  auto run = ordered_json::parse(json_);
  run["complete"] = complete;
  try {
    common::write_whole(folder_ / "run.json", run.dump(1) + '\n');
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

}  // namespace tessera::runtime
