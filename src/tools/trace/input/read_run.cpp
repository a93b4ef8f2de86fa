// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/read_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include <tessera/error.hpp>

#include "shared/formatting.hpp"
#include "trace/input/description.hpp"
#include "trace/input/paje.hpp"
#include "trace/input/paje_lines.hpp"
#include "trace/input/starpu_records.hpp"
#include "trace/input/tiles.hpp"

namespace tessera::trace {

namespace {

namespace fs = std::filesystem;

/// Paul Tol's bright colour scheme.
constexpr std::uint32_t palette[] = {0x4477aa, 0xee6677, 0x228833, 0xccbb44, 0x66ccee, 0xaa3377, 0x999999};

class Builder {
 public:
  Builder(const fs::path& folder, const fs::path& records)
      : folder_(folder), run_json_(read_run_json(folder).value_or(RunJson{})),
        trace_(read_paje(records / "paje.trace")), tasks_(read_tasks(records / "tasks.rec")),
        data_(read_data(records / "data.rec")), pushes_(read_pushes(records / "sched_tasks.rec")),
        tiles_(trace_.registrations, data_) {}

  Run build() {
    choose_tasks();
    int workers = 0;
    for (const auto* task : shown_) workers = std::max(workers, task->worker + 1);
    add_devices(run_, trace_, run_json_, workers);
    for (const auto* task : shown_) add_task(*task);
    add_transfers(run_, trace_, tiles_);
    begin_at_zero();
    add_memory();
    run_.tiles = tiles_.take();
    describe();
    return std::move(run_);
  }

 private:
  static bool ran(const RecordedTask& task) { return task.worker >= 0 && task.start >= 0; }

  /// Selects the program's tasks that ran. If the trace is truncated, includes tasks that had not started.
  void choose_tasks() {
    for (const auto& task : tasks_) {
      by_job_.emplace(task.job, &task);
      if (task.of_the_program && (ran(task) || (!trace_.whole && task.submitted >= 0))) shown_.push_back(&task);
    }
    if (shown_.empty())
      throw RuntimeError(fmt::format("{}: no task is recorded in this trace{}", folder_.string(),
                                     trace_.whole ? "" : ", which ends before the program does"));
    std::ranges::stable_sort(shown_, {}, [](const RecordedTask* task) {
      return std::pair(task->submitted >= 0 ? task->submitted : task->start, task->job);
    });
    for (std::size_t i = 0; i < shown_.size(); i++) index_.emplace(shown_[i]->job, static_cast<int>(i));
  }

  int routine(const std::string& name) {
    const auto [known, is_new] = routines_.try_emplace(name, static_cast<int>(run_.routines.size()));
    if (!is_new) return known->second;
    auto colour = palette[run_.routines.size() % std::size(palette)];
    if (const auto own = trace_.colours.find(in_quotes(name)); own != trace_.colours.end()) colour = own->second;
    if (const auto given = run_json_.colours.find(name); given != run_json_.colours.end() && given->second != 0)
      colour = given->second;
    run_.routines.push_back({tools::readable(name), colour});
    return known->second;
  }

  void add_task(const RecordedTask& recorded) {
    auto& task = run_.tasks.emplace_back();
    task.job = recorded.job;
    task.routine = routine(recorded.name);
    task.flops = recorded.flops;
    task.start = recorded.start, task.end = recorded.end;
    task.submitted = recorded.submitted >= 0 ? recorded.submitted : recorded.start;
    if (ran(recorded)) {
      task.worker = recorded.worker;
      if (task.end < task.start) task.end = std::max(task.start, trace_.end), unended_++;
    } else {
      task.start = task.end = never;
    }
    if (run_json_.colours.contains(recorded.name) && ran(recorded)) task.step = static_cast<int>(recorded.tag);
    for (const auto& buffer : recorded.buffers) add_access(task, buffer);
    add_dependencies(task, recorded);
    add_readiness(task);
  }

  void add_access(Task& task, const RecordedBuffer& buffer) {
    const int index = tiles_.at(buffer.handle, task.start);
    auto& tile = tiles_[index];
    const Access access{index, tile.operand, buffer.read, buffer.write, buffer.scratch};
    if (buffer.bytes > 0)
      tile.bytes = buffer.bytes;  // excludes copies of a part of the tile, unlike the size at registration
    if (access.write && !access.scratch && task.row == none && task.output == '-')
      task.output = access.operand, task.row = tile.row, task.column = tile.column;
    task.accesses.push_back(access);
  }

  /// Adds the dependencies. A dependency on a task that is not shown is replaced by the dependencies of that task.
  void add_dependencies(Task& task, const RecordedTask& recorded) {
    constexpr std::size_t enough = 4096;  // limits the search in programs that wait for all data again and again
    std::unordered_set<long> seen{recorded.job};
    auto open = recorded.after;
    while (!open.empty() && seen.size() < enough) {
      const long job = open.back();
      open.pop_back();
      if (!seen.insert(job).second) continue;
      if (const auto shown = index_.find(job); shown != index_.end()) task.after.push_back(shown->second);
      else if (const auto hidden = by_job_.find(job); hidden != by_job_.end())
        open.insert(open.end(), hidden->second->after.begin(), hidden->second->after.end());
    }
    std::ranges::sort(task.after);
  }

  /// A task is ready when the scheduler receives it or, if that was not recorded, when its dependencies have ended.
  void add_readiness(Task& task) const {
    task.ready = task.submitted;
    if (const auto pushed = pushes_.find(task.job); pushed != pushes_.end()) {
      task.ready = std::max(task.ready, pushed->second);
    } else {
      for (const int before : task.after)
        task.ready = std::max(task.ready, shown_[static_cast<std::size_t>(before)]->end);
    }
    task.ready = std::clamp(task.ready, task.submitted, std::max(task.start, task.submitted));
  }

  /// Shifts all times: 0 is the first submission, or an earlier transfer.
  void begin_at_zero() {
    begin_ = never;
    double end = 0;
    for (const auto& task : run_.tasks) {
      begin_ = std::min({begin_, task.submitted, task.start});
      end = std::max({end, task.submitted, task.worker == none ? task.ready : task.end});
    }
    for (const auto& transfer : run_.transfers)
      begin_ = std::min(begin_, transfer.asked), end = std::max(end, transfer.end);
    run_.span = end - begin_;
    for (auto& task : run_.tasks)
      for (double* time : {&task.submitted, &task.ready, &task.start, &task.end}) *time -= begin_;
    for (auto& transfer : run_.transfers)
      for (double* time : {&transfer.asked, &transfer.start, &transfer.end}) *time -= begin_;
  }

  void add_memory() {
    std::map<int, MemoryUse> by_node;
    const auto exists = [&](int node) { return node >= 0 && node < static_cast<int>(run_.nodes.size()); };
    for (const auto& [node, bytes] : run_json_.used)
      if (exists(node)) by_node[node] = {node, {0.}, {bytes}};
    for (const auto& use : trace_.memory) {
      if (use.time < begin_ && run_json_.used.contains(use.node)) continue;  // allocated before a pause
      const double time = std::max(0., use.time - begin_);
      if (time > run_.span || !exists(use.node)) continue;
      auto& memory = by_node[use.node];
      memory.node = use.node;
      if (!memory.time.empty() && memory.time.back() == time) memory.bytes.back() = use.bytes;
      else memory.time.push_back(time), memory.bytes.push_back(use.bytes);
    }
    for (auto& [node, memory] : by_node)
      if (std::ranges::any_of(memory.bytes, [](double bytes) { return bytes > 0; }))
        run_.memory.push_back(std::move(memory));
  }

  void describe() {
    run_.command = run_json_.command, run_.policy = run_json_.policy;
    run_.simulated = run_json_.simulated;
    run_.counted = run_json_.counted;
    run_.title = title_of(run_);
    run_.machine = run_json_.machine.empty() ? machine_of(run_) : run_json_.machine;
    run_.warnings = warnings_of(folder_, trace_, run_json_, unended_);
  }

  const fs::path folder_;
  const RunJson run_json_;
  const PajeTrace trace_;
  const std::vector<RecordedTask> tasks_;
  const std::vector<RecordedData> data_;
  const std::unordered_map<long, double> pushes_;
  Tiles tiles_;
  std::vector<const RecordedTask*> shown_;
  std::unordered_map<long, const RecordedTask*> by_job_;
  std::unordered_map<long, int> index_;  ///< index in shown_, by job
  std::unordered_map<std::string, int> routines_;
  std::size_t unended_ = 0;
  double begin_ = 0;
  Run run_;
};

}  // namespace

Run read_run(const fs::path& folder, const fs::path& records) { return Builder(folder, records).build(); }

}  // namespace tessera::trace
