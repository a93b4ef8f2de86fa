// SPDX-License-Identifier: BSD-3-Clause
#include "blas_profile/blas_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "shared/formatting.hpp"

namespace tessera::blas_profile {

namespace {

using tools::significant;
using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t most_rows = 30, most_processes = 10, most_damaged = 10;

std::string_view plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

/// The unit of all numbers in a column.
struct Unit {
  const char* name;
  double size;
};

/// flop/s; 0 if the time is unknown
double rate(const Calls& c) { return c.seconds.value_or(0) > 0 ? c.flops / *c.seconds : 0; }

Unit rate_unit(std::span<const Calls> table) {
  const auto fast = [](const Calls& c) { return rate(c) >= 1e12; };
  return std::ranges::any_of(table, fast) ? Unit{"TFLOP/s", 1e12} : Unit{"GFLOP/s", 1e9};
}

Unit byte_unit(std::span<const Calls> table) {
  const auto large = [](const Calls& c) { return c.bytes >= 1e8; };
  return std::ranges::any_of(table, large) ? Unit{"GB", 1e9} : Unit{"MB", 1e6};
}

std::string program_name(const BlasReport& report) { return report.words.empty() ? "it" : report.words.front(); }

/// Whether a process has loaded a private BLAS, and has called no other BLAS.
bool is_all_foreign(const Process& p) { return !p.foreign.empty() && p.host_blas.empty() && p.calls.empty(); }

void print_processes(Out out, const Log& log) {
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < log.processes.size(); i++) {
    const auto& p = log.processes[i];
    if (i >= most_processes && p.trouble.empty()) {
      left_out++;
      continue;
    }
    if (is_all_foreign(p)) {
      fmt::format_to(out, "{} (process {}): no call reached Tessera\n", p.program, p.id);
    } else {
      fmt::format_to(out, "{} (process {}), {} s from its first BLAS call to its end\n", p.program, p.id,
                     significant(p.seconds, 3));
      fmt::format_to(out, "  host BLAS: {}\n", p.host_blas.empty() ? "not found" : p.host_blas);
      fmt::format_to(out, "  devices: {}\n", p.devices.empty() ? "not started" : p.devices);
    }
    if (!p.foreign.empty())
      fmt::format_to(out,
                     "  not seen: calls of {}\n    A package from PyPI brings this BLAS, whose functions have names of "
                     "their own. Preload\n    tessera-blas/libtessera_wheels.so instead, or use the package of the "
                     "distribution (python3-numpy): docs/dropin.md\n",
                     p.foreign);
    if (!p.trouble.empty()) fmt::format_to(out, "  trouble: {}\n", p.trouble);
  }
  if (left_out > 0) fmt::format_to(out, "and {} other process{}\n", left_out, left_out == 1 ? "" : "es");
}

void print_damaged(Out out, const Log& log) {
  const auto shown = std::min(log.damaged.size(), most_damaged);
  for (const auto& [line, why] : std::span(log.damaged).first(shown))
    fmt::format_to(out, "line {} of the log is damaged: {}\n", line, why);
  if (shown < log.damaged.size()) fmt::format_to(out, "and {} other damaged lines\n", log.damaged.size() - shown);
}

std::string seconds(const std::optional<double>& time, bool estimate) {
  if (!time) return "-";
  return (estimate ? "~" : "") + significant(*time, 3);
}

std::string shape_cells(const Shape& shape) {
  if (std::ranges::none_of(shape, [](const auto& size) { return size.has_value(); }))
    return fmt::format(" {:>23}", "other shapes");
  std::string cells;
  for (const auto& size : {shape[0], shape[1], shape[2] ? shape[2] : shape[3]})
    cells += size ? fmt::format(" {:>7}", *size) : fmt::format(" {:>7}", "-");
  return cells;
}

class Table {
 public:
  Table(Out out, std::span<const Calls> all)
      : out_(out), rate_(rate_unit(all)), bytes_(byte_unit(all)),
        reuses_(std::ranges::any_of(all, [](const Calls& c) { return c.reused_bytes > 0; })) {}

  void heading() {
    line(fmt::format("{:<8} {:>7} {:>7} {:>7}  {:<7}", "routine", "m", "n", "k, nrhs", "place"), "calls", "time [s]",
         rate_.name, bytes_.name, "reused", "on the host [s]");
  }
  void row(const Calls& c) {
    row(fmt::format("{:<8}{}  {:<7}", c.routine, shape_cells(c.shape), c.place == Place::Host ? "host" : "devices"), c,
        c.place == Place::Devices);
  }
  void row(const std::string& label, const Calls& c, bool estimate) {
    line(label, fmt::format("{}", c.calls), seconds(c.seconds, false),
         rate(c) > 0 ? significant(rate(c) / rate_.size, 3) : "-", significant(c.bytes / bytes_.size, 3),
         significant(c.reused_bytes / bytes_.size, 3), seconds(c.host_seconds, estimate));
  }

 private:
  void line(const std::string& label, const std::string& calls, const std::string& seconds, const std::string& rate,
            const std::string& bytes, const std::string& reused, const std::string& on_the_host) {
    fmt::format_to(out_, "{:<41} {:>10} {:>11} {:>8} {:>9}", label, calls, seconds, rate, bytes);
    if (reuses_) fmt::format_to(out_, " {:>9}", reused);
    fmt::format_to(out_, " {:>16}\n", on_the_host);
  }

  Out out_;
  Unit rate_, bytes_;
  bool reuses_;  ///< whether there is a column of reused bytes
};

void print_table(Out out, std::span<const Calls> all) {
  Table table(out, all);
  table.heading();
  const auto shown = all.size() > most_rows ? most_rows : all.size();
  for (const auto& calls : all.first(shown)) table.row(calls);
  const auto rest = all.subspan(shown);
  if (rest.empty()) return;
  auto sum = rest.front();
  for (const auto& calls : rest.subspan(1)) add(sum, calls);
  const bool estimate = std::ranges::any_of(rest, [](const Calls& c) { return c.place == Place::Devices; });
  table.row(fmt::format("and {} other shape{}", rest.size(), plural(rest.size())), sum, estimate);
}

void print_totals(Out out, const Totals& sum) {
  for (const auto& [name, place] : {std::pair{"host", sum.host}, std::pair{"devices", sum.devices}})
    if (place.calls > 0)
      fmt::format_to(out, "on the {}: {} call{}, {} s\n", name, place.calls, plural(place.calls),
                     significant(place.seconds, 3));
  if (!sum.estimated()) return;
  fmt::format_to(out, "{}: {} s (estimate)", sum.gained() < 0 ? "lost" : "gained",
                 significant(std::abs(sum.gained()), 3));
  fmt::format_to(out, "; what took {} s on the devices would have taken ~{} s on the host\n",
                 significant(sum.estimated_seconds, 3), significant(sum.estimated_host_seconds, 3));
  if (sum.not_estimated > 0)
    fmt::format_to(out, "  excluding {} call{} without an estimate\n", sum.not_estimated, plural(sum.not_estimated));
}

void print_reasons(Out out, const BlasReport& report) {
  fmt::format_to(out, "No BLAS call came through libtessera_blas.so. Likely reasons:\n");
  if (report.ended.signal != 0)
    fmt::format_to(out, "  - the process was killed, and the log is written when a process exits\n");
  fmt::format_to(
      out,
      "  - {} calls neither a level-3 routine (gemm, symm, syrk, trsm, ...) nor a solver of LAPACK (getrf, potrf, "
      "...),\n"
      "    or only from other routines of OpenBLAS's LAPACK, which calls OpenBLAS internally\n"
      "  - its BLAS is linked statically\n"
      "  - it looks the BLAS up by dlsym, in a library that it has opened itself (ctypes, cffi, LuaJIT, Julia): let "
      "it\n"
      "    open libtessera_blas.so instead\n"
      "  - LD_PRELOAD does not reach it: it has setuid or capabilities, runs in a container, or is started by a\n"
      "    program that clears the variable\n"
      "  - it ends with _exit, or continues in the background\n",
      program_name(report));
}

}  // namespace

Totals totals(const Log& log) {
  Totals sum;
  for (const auto& process : log.processes)
    for (const auto& c : process.calls) {
      auto& place = c.place == Place::Host ? sum.host : sum.devices;
      place.calls += c.calls, place.flops += c.flops, place.bytes += c.bytes;
      place.seconds += c.seconds.value_or(0);
      if (c.place == Place::Host) continue;
      if (!c.host_seconds || !c.seconds) sum.not_estimated += c.calls;
      else sum.estimated_host_seconds += *c.host_seconds, sum.estimated_seconds += *c.seconds;
    }
  return sum;
}

std::string blas_text(const BlasReport& report) {
  std::string text;
  const Out out(text);
  const auto all = summed(report.log);
  if (report.ended.signal != 0)
    fmt::format_to(out, "{} was killed by signal {} ({})\n", program_name(report), report.ended.signal,
                   strsignal(report.ended.signal));
  print_processes(out, report.log);
  print_damaged(out, report.log);
  if (!all.empty()) {
    fmt::format_to(out, "\n");
    print_table(out, all);
    fmt::format_to(out, "\n");
    print_totals(out, totals(report.log));
  } else if (report.log.damaged.empty() && std::ranges::none_of(report.log.processes, is_all_foreign)) {
    print_reasons(out, report);
  }
  return text;
}

namespace {

using OrderedJson = nlohmann::ordered_json;

template <typename T>
OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson text_or_null(const std::string& text) { return text.empty() ? OrderedJson(nullptr) : OrderedJson(text); }

OrderedJson to_json(const Process& p) {
  return {{"process", p.id},
          {"program", p.program},
          {"host_blas", p.host_blas},
          {"devices", p.devices},
          {"seconds", p.seconds},
          {"trouble", text_or_null(p.trouble)},
          {"foreign_blas", text_or_null(p.foreign)}};
}

OrderedJson to_json(const Calls& c) {
  return {{"routine", c.routine},
          {"m", or_null(c.shape[0])},
          {"n", or_null(c.shape[1])},
          {"k", or_null(c.shape[2])},
          {"nrhs", or_null(c.shape[3])},
          {"place", c.place == Place::Host ? "host" : "devices"},
          {"calls", c.calls},
          {"seconds", or_null(c.seconds)},
          {"flops", c.flops},
          {"bytes", c.bytes},
          {"reused_bytes", c.reused_bytes},
          {"host_seconds", or_null(c.host_seconds)}};
}

OrderedJson to_json(const InPlace& place) {
  return {{"calls", place.calls}, {"seconds", place.seconds}, {"flops", place.flops}, {"bytes", place.bytes}};
}

OrderedJson to_json(const Totals& sum) {
  return {{"host", to_json(sum.host)},
          {"devices", to_json(sum.devices)},
          {"gained_seconds", sum.estimated() ? OrderedJson(sum.gained()) : OrderedJson(nullptr)},
          {"not_estimated_calls", sum.not_estimated}};
}

OrderedJson to_json(const Damaged& damaged) { return {{"line", damaged.line}, {"why", damaged.why}}; }

template <typename List>
OrderedJson array(const List& list) {
  auto all = OrderedJson::array();
  for (const auto& item : list) all.push_back(to_json(item));
  return all;
}

}  // namespace

std::string blas_json(const BlasReport& report) {
  const OrderedJson json{{"command", report.words},
                         {"exit_status", report.ended.code()},
                         {"signal", report.ended.signal == 0 ? OrderedJson(nullptr) : OrderedJson(report.ended.signal)},
                         {"processes", array(report.log.processes)},
                         {"calls", array(summed(report.log))},
                         {"totals", to_json(totals(report.log))},
                         {"damaged", array(report.log.damaged)}};
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);  // words may not be UTF-8
}

}  // namespace tessera::blas_profile
