// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>

#include "common/whole_file.hpp"
#include "trace/analysis/lookups.hpp"
#include "trace/output/outputs.hpp"

namespace tessera::trace {

namespace {

/// Slices of a row may be nested in this format, but not overlap otherwise. Overlapping slices go to additional rows.
class Rows {
 public:
  int row_for(double start, double end) {
    for (std::size_t row = 0; row < ends_.size(); ++row)
      if (ends_[row] <= start) return ends_[row] = end, static_cast<int>(row);
    ends_.push_back(end);
    return static_cast<int>(ends_.size()) - 1;
  }

 private:
  std::vector<double> ends_;
};

class Events {
 public:
  explicit Events(std::ostream& out) : out_(out) { out_ << R"({"displayTimeUnit":"ms","traceEvents":[)"; }
  void close() { out_ << "\n]}\n"; }

  void process(int process, const std::string& name) {
    next("M", "process_name", process, 0);
    fmt::print(out_, R"(,"args":{{"name":{}}}}})", text(name));
    next("M", "process_sort_index", process, 0);
    fmt::print(out_, R"(,"args":{{"sort_index":{}}}}})", process);
  }
  void thread(int process, int thread, const std::string& name) {
    next("M", "thread_name", process, thread);
    fmt::print(out_, R"(,"args":{{"name":{}}}}})", text(name));
    next("M", "thread_sort_index", process, thread);
    fmt::print(out_, R"(,"args":{{"sort_index":{}}}}})", thread);
  }
  /// @param arguments  members of a JSON object, without its braces
  void slice(int process, int thread, const std::string& name, const std::string& category, double start, double end,
             const std::string& arguments) {
    next("X", name, process, thread);
    fmt::print(out_, R"(,"cat":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}}}})", text(category), start * 1e6,
               (end - start) * 1e6, arguments);
  }
  void counter(int process, const std::string& name, double time, double value) {
    next("C", name, process, 0);
    fmt::print(out_, R"(,"ts":{:.3f},"args":{{"value":{}}}}})", time * 1e6, value);
  }

 private:
  static std::string text(const std::string& value) { return nlohmann::json(value).dump(); }
  void next(const char* phase, const std::string& name, int process, int thread) {
    fmt::print(out_, R"({}{{"ph":"{}","name":{},"pid":{},"tid":{})", first_ ? "\n" : ",\n", phase, text(name), process,
               thread);
    first_ = false;
  }

  std::ostream& out_;
  bool first_ = true;
};

enum Process { Workers = 1, Links, Counts };
constexpr int rows_at_most = 1000;  ///< maximum for a worker or link; the numbering of rows depends on it

std::string with_number(const std::string& name, int row) {
  return row == 0 ? name : fmt::format("{} ({})", name, row + 1);
}

/// Names each row that has any slice.
void name_rows(Events& events, int process, int first, const std::string& name, int rows) {
  for (int row = 0; row < rows; ++row) events.thread(process, first + row, with_number(name, row));
}

void write_workers(Events& events, const Lookups& lookups) {
  const auto& run = lookups.run;
  events.process(Workers, "workers");
  for (int worker = 0; worker < std::ssize(run.workers); ++worker) {
    Rows rows;
    int used = 1;
    const int first = worker * rows_at_most;
    for (const int i : lookups.tasks_of(worker)) {
      const auto& task = run.tasks[i];
      const double start = lookups.start(task), end = lookups.end(task);
      const int row = std::min(rows.row_for(start, end), rows_at_most - 1);
      used = std::max(used, row + 1);
      events.slice(Workers, first + row, name_of(run, task),
                   task.routine == none ? "task" : run.routines[task.routine].name, start, end,
                   fmt::format(R"("job":{},"submitted":{:.3f},"ready":{:.3f},"flops":{})", task.job,
                               lookups.submitted(task) * 1e6, lookups.ready(task) * 1e6, task.flops));
    }
    name_rows(events, Workers, first, run.workers[worker].name, used);
  }
}

void write_links(Events& events, const Lookups& lookups, const std::vector<LinkUse>& links) {
  constexpr const char* reasons[] = {"fetch", "prefetch", "write back"};
  const auto& run = lookups.run;
  struct Link {
    int first;
    int used = 0;
    Rows rows = {};
  };
  std::map<std::pair<int, int>, Link> places;
  events.process(Links, "links");
  for (const auto& link : links)
    places.emplace(std::pair(link.from, link.to), Link{static_cast<int>(places.size()) * rows_at_most});
  for (const auto& transfer : run.transfers) {
    auto& [first, used, rows] = places.at({transfer.from, transfer.to});
    const double start = lookups.start(transfer), end = lookups.end(transfer);
    const int row = std::min(rows.row_for(start, end), rows_at_most - 1);
    used = std::max(used, row + 1);
    const auto* reason = reasons[static_cast<int>(transfer.reason)];
    events.slice(Links, first + row, name_of(run, transfer.tile, transfer.operand), reason, start, end,
                 fmt::format(R"("bytes":{},"reason":"{}")", transfer.bytes, reason));
  }
  for (const auto& [ends, link] : places)
    name_rows(events, Links, link.first, link_name(run, ends.first, ends.second), link.used);
}

}  // namespace

void write_chrome_trace(const std::filesystem::path& file, const Explained& explained) {
  const auto& [run, analysis] = explained;
  const Lookups lookups(run);
  detail::WholeFile whole(file);
  Events events(whole.stream());
  write_workers(events, lookups);
  write_links(events, lookups, analysis.links);
  events.process(Counts, "memory and tasks");
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
