// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "common/whole_file.hpp"
#include "trace/analysis/lookups.hpp"
#include "trace/output/outputs.hpp"

namespace tessera::trace {

namespace {

using Json = nlohmann::ordered_json;

enum Process { Workers = 1, Links, Counts };

/// A time in microseconds, to the nanosecond.
double microseconds(double seconds) { return std::round(seconds * 1e9) / 1e3; }

class Events {
 public:
  explicit Events(std::ostream& out) : out_(out) { out_ << R"({"displayTimeUnit":"ms","traceEvents":[)"; }
  void close() { out_ << "\n]}\n"; }

  /// Names a process or a thread, and gives it its place.
  void name(const std::string& what, int process, int thread, const std::string& name) {
    add("M", what + "_name", process, thread, {{"args", {{"name", name}}}});
    add("M", what + "_sort_index", process, thread, {{"args", {{"sort_index", what == "process" ? process : thread}}}});
  }
  void slice(int process, int thread, const std::string& name, const std::string& category, double start, double end,
             const Json& arguments) {
    add("X", name, process, thread,
        {{"cat", category}, {"ts", microseconds(start)}, {"dur", microseconds(end - start)}, {"args", arguments}});
  }
  void counter(int process, const std::string& name, double time, double value) {
    add("C", name, process, 0, {{"ts", microseconds(time)}, {"args", {{"value", value}}}});
  }

 private:
  void add(const char* phase, const std::string& name, int process, int thread, const Json& more) {
    Json event{{"ph", phase}, {"name", name}, {"pid", process}, {"tid", thread}};
    event.update(more);
    out_ << (first_ ? "\n" : ",\n") << event.dump();
    first_ = false;
  }

  std::ostream& out_;
  bool first_ = true;
};

/// The rows of a worker or a link. Slices of a row may be nested in this format, but not overlap otherwise. Overlapping
/// slices go to additional rows.
class Rows {
 public:
  explicit Rows(int number) : first_(number * most) {}

  int row_for(double start, double end) {
    for (std::size_t row = 0; row < ends_.size(); ++row)
      if (ends_[row] <= start || row + 1 == most) return ends_[row] = end, first_ + static_cast<int>(row);
    ends_.push_back(end);
    return first_ + static_cast<int>(ends_.size()) - 1;
  }
  /// Names the rows, the first even if it has no slice.
  void name(Events& events, int process, const std::string& name) const {
    for (int row = 0; row < std::max<int>(1, static_cast<int>(ends_.size())); ++row)
      events.name("thread", process, first_ + row, row == 0 ? name : fmt::format("{} ({})", name, row + 1));
  }

 private:
  static constexpr int most = 1000;  ///< the numbering of rows depends on it
  int first_;
  std::vector<double> ends_;
};

void write_workers(Events& events, const Lookups& lookups) {
  const auto& run = lookups.run;
  events.name("process", Workers, 0, "workers");
  for (int worker = 0; worker < std::ssize(run.workers); ++worker) {
    Rows rows(worker);
    for (const int i : lookups.tasks_of(worker)) {
      const auto& task = run.tasks[i];
      const double start = lookups.start(task), end = lookups.end(task);
      events.slice(Workers, rows.row_for(start, end), name_of(run, task),
                   task.routine == none ? "task" : run.routines[task.routine].name, start, end,
                   {{"job", task.job},
                    {"submitted", microseconds(lookups.submitted(task))},
                    {"ready", microseconds(lookups.ready(task))},
                    {"flops", task.flops}});
    }
    rows.name(events, Workers, run.workers[worker].name);
  }
}

void write_links(Events& events, const Lookups& lookups, const std::vector<LinkUse>& links) {
  constexpr const char* reasons[] = {"fetch", "prefetch", "write back"};
  const auto& run = lookups.run;
  std::map<std::pair<int, int>, Rows> rows;
  events.name("process", Links, 0, "links");
  for (const auto& link : links) rows.emplace(std::pair(link.from, link.to), Rows(static_cast<int>(rows.size())));
  for (const auto& transfer : run.transfers) {
    const double start = lookups.start(transfer), end = lookups.end(transfer);
    const auto* reason = reasons[static_cast<int>(transfer.reason)];
    events.slice(Links, rows.at({transfer.from, transfer.to}).row_for(start, end),
                 name_of(run, transfer.tile, transfer.operand), reason, start, end,
                 {{"bytes", transfer.bytes}, {"reason", reason}});
  }
  for (const auto& [ends, own] : rows) own.name(events, Links, link_name(run, ends.first, ends.second));
}

}  // namespace

void write_chrome_trace(const std::filesystem::path& file, const Explained& explained) {
  const auto& [run, analysis] = explained;
  const Lookups lookups(run);
  common::WholeFile whole(file);
  Events events(whole.stream());
  write_workers(events, lookups);
  write_links(events, lookups, analysis.links);
  events.name("process", Counts, 0, "memory and tasks");
  for (const auto& use : run.memory)
    for (std::size_t i = 0; i < use.time.size(); ++i)
      events.counter(Counts, "bytes on " + run.nodes[use.node].name, use.time[i], use.bytes[i]);
  for (const auto& [name, series] : {std::pair("ready tasks", &analysis.ready), {"running tasks", &analysis.running}})
    for (std::size_t i = 0; i < series->time.size(); ++i)
      events.counter(Counts, name, series->time[i], series->count[i]);
  events.close();
  whole.commit();
}

}  // namespace tessera::trace
