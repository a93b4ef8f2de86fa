// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/whole_file.hpp"
#include "trace/analysis/lookups.hpp"
#include "trace/analysis/parts.hpp"
#include "trace/input/paje_lines.hpp"
#include "trace/output/draw_parts.hpp"
#include "trace/output/outputs.hpp"

namespace tessera::trace {

namespace {

/// The kinds of events, with their fields. The last one is a state with the name of a task or of a tile.
constexpr std::string_view definitions =
    "%EventDef PajeDefineContainerType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDefineStateType 3\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDefineVariableType 4\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDefineLinkType 5\n% Alias string\n% Type string\n% StartContainerType string\n"
    "% EndContainerType string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDefineEntityValue 6\n% Alias string\n% Type string\n% Name string\n% Color color\n%EndEventDef\n"
    "%EventDef PajeCreateContainer 7\n% Time date\n% Alias string\n% Type string\n% Container string\n"
    "% Name string\n%EndEventDef\n"
    "%EventDef PajeSetState 10\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n"
    "%EventDef PajeSetVariable 13\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef\n"
    "%EventDef PajeStartLink 18\n% Time date\n% Type string\n% Container string\n% StartContainer string\n"
    "% Value string\n% Key string\n%EndEventDef\n"
    "%EventDef PajeEndLink 19\n% Time date\n% Type string\n% Container string\n% EndContainer string\n"
    "% Value string\n% Key string\n%EndEventDef\n"
    "%EventDef PajeSetState 20\n% Time date\n% Type string\n% Container string\n% Value string\n% Task string\n"
    "%EndEventDef\n"
    "1\tRow\t0\t\"row\"\n3\tDoes\tRow\t\"does\"\n5\tCopy\t0\tRow\tRow\t\"copy\"\n";

constexpr const char *idle = "idle", *waits = "waiting for data", *overhead = "overhead";

std::string paje_name(std::string_view name) { return fmt::format("\"{}\"", in_quotes(name)); }

/// The state of a row at a time, and its rate.
struct State {
  double start = 0, end = 0;
  std::string value, name;
  double rate = 0;
};

/// The trace: rows first, then all events in the order of their times. Times are in milliseconds.
class Paje {
 public:
  explicit Paje(std::ostream& out) : out_(out) { out_ << definitions; }

  void value(const std::string& name, std::uint32_t rgb) {
    define("6\t{0}\tDoes\t{0}\t{1}", paje_name(name), colour(rgb));
    define("6\t{0}\tCopy\t{0}\t{1}", paje_name(name), colour(rgb));
  }
  void variable(const char* alias, const char* name) { define("4\t{}\tRow\t{}", alias, paje_name(name)); }
  void row(const std::string& alias, const std::string& name) {
    define("7\t0\t{}\tRow\t0\t{}", alias, paje_name(name));
  }

  void set(double time, const char* variable, const std::string& row, double value) {
    event(13, time, fmt::format("{}\t{}\t{:.6g}", variable, row, value));
  }
  /// @param spans  in the order of their starts. Where they overlap, the later one is shown.
  void states(const std::string& row, const char* variable, const std::vector<State>& spans) {
    rest(0, row, variable);
    double last = 0;
    for (std::size_t i = 0; i < spans.size(); i++) {
      const auto& [start, end, value, name, rate] = spans[i];
      event(20, start, fmt::format("Does\t{}\t{}\t{}", row, paje_name(value), paje_name(name)));
      set(start, variable, row, rate);
      last = std::max(last, end);
      if (i + 1 == spans.size() || spans[i + 1].start > last) rest(last, row, variable);
    }
  }
  void copy(const State& span, const std::string& from, const std::string& to, std::size_t key) {
    event(18, span.start, fmt::format("Copy\t0\t{}\t{}\t{}", from, paje_name(span.value), key));
    event(19, span.end, fmt::format("Copy\t0\t{}\t{}\t{}", to, paje_name(span.value), key));
  }

  void finish() {
    std::ranges::stable_sort(events_, {}, &Event::time);
    for (const auto& [kind, time, rest] : events_) out_ << fmt::format("{}\t{:.6f}\t{}\n", kind, 1e3 * time, rest);
  }

 private:
  struct Event {
    int kind;
    double time;
    std::string rest;
  };

  static std::string colour(std::uint32_t rgb) {
    return fmt::format("\"{:.4f} {:.4f} {:.4f}\"", (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
  }
  template <class... Words>
  void define(fmt::format_string<Words...> text, Words&&... words) {
    out_ << fmt::format(text, std::forward<Words>(words)...) << '\n';
  }
  void event(int kind, double time, std::string rest) { events_.push_back({kind, time, std::move(rest)}); }
  void rest(double time, const std::string& row, const char* variable) {
    event(10, time, fmt::format("Does\t{}\t{}", row, paje_name(idle)));
    set(time, variable, row, 0);
  }

  std::ostream& out_;
  std::vector<Event> events_;
};

std::string row_of(const char* kind, std::size_t number) { return fmt::format("{}{}", kind, number); }

std::string value_of(const Transfer& transfer) { return fmt::format("tile of {}", transfer.operand); }

State state_of(const Lookups& lookups, const Transfer& transfer) {
  const double start = lookups.start(transfer), end = lookups.end(transfer);
  return {start, end, value_of(transfer), name_of(lookups.run, transfer.tile, transfer.operand),
          end > start ? 1e-9 * static_cast<double>(transfer.bytes) / (end - start) : 0};
}

void define_values(Paje& paje, const Run& run) {
  paje.value(idle, 0xededed), paje.value(waits, 0xd55e00), paje.value(overhead, 0x8c8c8c), paje.value("task", 0x555555);
  std::set<std::string> known;
  for (const auto& routine : run.routines)
    if (known.insert(routine.name).second) paje.value(routine.name, routine.colour);
  std::set<char> operands;
  for (const auto& transfer : run.transfers)
    if (operands.insert(transfer.operand).second) paje.value(value_of(transfer), operand_colour(transfer.operand));
  paje.variable("Memory", "in use [GB]"), paje.variable("Arriving", "arriving [GB/s]");
  paje.variable("Speed", "Tflop/s"), paje.variable("Rate", "GB/s");
}

/// Adds a row for each memory, with the bytes in use and arrivals. Arrows between these rows cover no tasks.
void add_memories(Paje& paje, const Lookups& lookups) {
  const auto& run = lookups.run;
  std::vector<std::vector<std::pair<double, double>>> changes(run.nodes.size());
  for (std::size_t i = 0; i < run.transfers.size(); i++) {
    const auto& transfer = run.transfers[i];
    const auto span = state_of(lookups, transfer);
    const auto from = static_cast<std::size_t>(transfer.from), to = static_cast<std::size_t>(transfer.to);
    paje.copy(span, row_of("memory", from), row_of("memory", to), i);
    changes[to].emplace_back(span.start, span.rate), changes[to].emplace_back(span.end, -span.rate);
  }
  for (std::size_t node = 0; node < run.nodes.size(); node++) {
    paje.row(row_of("memory", node), run.nodes[node].name + " memory");
    paje.set(0, "Memory", row_of("memory", node), 0), paje.set(0, "Arriving", row_of("memory", node), 0);
    std::ranges::sort(changes[node]);
    double rate = 0;
    for (const auto& [time, change] : changes[node])
      rate += change, paje.set(time, "Arriving", row_of("memory", node), std::max(0.0, rate));
  }
  for (const auto& use : run.memory)
    for (std::size_t i = 0; i < use.time.size(); i++)
      paje.set(use.time[i], "Memory", row_of("memory", static_cast<std::size_t>(use.node)), 1e-9 * use.bytes[i]);
}

void add_workers(Paje& paje, const Lookups& lookups) {
  const auto& run = lookups.run;
  std::vector<std::vector<State>> spans(run.workers.size());
  for (std::size_t worker = 0; worker < run.workers.size(); worker++)
    for (const int i : lookups.tasks_of(static_cast<int>(worker))) {
      const auto& task = run.tasks[static_cast<std::size_t>(i)];
      const double start = lookups.start(task), end = lookups.end(task);
      spans[worker].push_back(
          {start, end, task.routine == none ? "task" : run.routines[static_cast<std::size_t>(task.routine)].name,
           name_of(run, task), end > start ? 1e-12 * task.flops / (end - start) : 0});
    }
  for (const auto& gap : find_gaps(lookups, std::numeric_limits<std::size_t>::max()).worst)
    if (gap.cause == Gap::Cause::Data || gap.cause == Gap::Cause::Overhead)
      spans[static_cast<std::size_t>(gap.worker)].push_back(
          {gap.begin, gap.end, gap.cause == Gap::Cause::Data ? waits : overhead,
           gap.next == none ? "" : "before " + name_of(run, run.tasks[static_cast<std::size_t>(gap.next)]), 0});
  for (std::size_t worker = 0; worker < run.workers.size(); worker++) {
    std::ranges::stable_sort(spans[worker], {}, &State::start);
    paje.row(row_of("worker", worker), run.workers[worker].name);
    paje.states(row_of("worker", worker), "Speed", spans[worker]);
  }
}

void add_links(Paje& paje, const Lookups& lookups) {
  const auto& run = lookups.run;
  std::map<std::tuple<bool, bool, int, int>, std::vector<State>>
      links;  ///< from the host, to the host, then the others
  const auto is_host = [&](int node) { return run.nodes[static_cast<std::size_t>(node)].kind == Kind::Host; };
  for (const auto& transfer : run.transfers)
    links[{!is_host(transfer.from), !is_host(transfer.to), transfer.from, transfer.to}].push_back(
        state_of(lookups, transfer));
  for (const auto& [key, spans] : links) {
    const auto [from_gpu, to_gpu, from, to] = key;
    const auto row = fmt::format("link{}to{}", from, to);
    paje.row(row, link_name(run, from, to));
    paje.states(row, "Rate", spans);
  }
}

}  // namespace

void write_for_vite(const std::filesystem::path& file, const Run& run) {
  const Lookups lookups(run);
  common::WholeFile whole(file);
  Paje paje(whole.stream());
  define_values(paje, run);
  add_memories(paje, lookups);
  add_workers(paje, lookups);
  add_links(paje, lookups);
  paje.finish();
  whole.commit();
}

}  // namespace tessera::trace
