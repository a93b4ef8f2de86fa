// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include <tessera/error.hpp>

#include "common/bad_argument.hpp"
#include "common/text.hpp"

namespace tessera::simulate {

using bench::Result, bench::Takes;
using tools::aligned, tools::significant, tools::trimmed;

namespace {

std::string gigabytes(double bytes) { return significant(bytes * 1e-9, 3); }
std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

double idle_share(const GpuUse& gpu, double seconds) { return 1 - gpu.busy / seconds; }

double average_idle(const Outcome& outcome) {
  double sum = 0;
  for (const auto& gpu : outcome.gpus) sum += idle_share(gpu, outcome.seconds);
  return sum / static_cast<double>(outcome.gpus.size());
}

/// How much earlier than the last GPU the first one has nothing left, as a share of the call.
double imbalance(const Outcome& outcome) {
  const auto [first, last] = std::ranges::minmax_element(outcome.gpus, {}, &GpuUse::last_end);
  return (last->last_end - first->last_end) / outcome.seconds;
}

}  // namespace

Report::Report(const Options& options) : options_(options), table_(options.json == "-" ? stderr : stdout) {
  if (options.json.empty() || options.json == "-") return;
  errno = 0;
  json_.open(options.json);
  if (!json_)
    throw tools::BadArgument("--json", options.json, fmt::format("cannot be written: {}", std::strerror(errno)));
}

std::vector<Report::Column> Report::columns() const {
  const auto cube = [](const bench::Problem& p) { return p.m == p.n && p.n == p.k; };
  const bool cubes = std::ranges::all_of(options_.problems, cube);
  const auto size = [](Index bench::Problem::*which, bool Takes::*takes) {
    return
        [=](const Row& r) { return r.result.routine->takes().*takes ? std::to_string(r.result.problem.*which) : "-"; };
  };
  const auto bytes = [](double Result::Bytes::*which) {
    return [=](const Row& r) { return gigabytes((*r.result.bytes).*which); };
  };
  const auto of_gpus = [](double (*number)(const Outcome&)) {
    return [=](const Row& r) { return r.outcome.gpus.empty() ? "-" : percent(number(r.outcome)); };
  };
  std::vector<Column> all;
  all.push_back({"routine", -8, [](const Row& r) { return r.result.problem.type + r.result.routine->name(); }});
  if (!cubes) all.push_back({"m", 6, size(&bench::Problem::m, &Takes::m)});
  all.push_back({"n", 6, [](const Row& r) { return std::to_string(r.result.problem.n); }});
  if (!cubes) all.push_back({"k", 6, size(&bench::Problem::k, &Takes::k)});
  all.push_back({"GPUs", 4, [](const Row& r) { return std::to_string(r.result.gpus); }});
  all.push_back({"policy", -8, [](const Row& r) { return r.result.policy; }});
  all.push_back({"placement", -9, [](const Row& r) { return r.result.placement; }});
  all.push_back({"tile", 9, [](const Row& r) { return describe_tile(r.result); }});
  all.push_back({"time [s]", 8, [](const Row& r) { return significant(r.outcome.seconds, 4); }});
  all.push_back({"TFLOP/s", 7, [](const Row& r) { return significant(r.result.rate() * 1e-12, 4); }});
  all.push_back({"of peak", 7, [](const Row& r) { return percent(r.result.rate() / r.peak); }});
  all.push_back({"idle", 6, of_gpus(average_idle)});
  all.push_back({"uneven", 6, of_gpus(imbalance)});
  all.push_back({"in [GB]", 7, bytes(&Result::Bytes::h2d)});
  all.push_back({"least", 6, [](const Row& r) { return gigabytes(r.result.bytes_min_h2d); }});
  all.push_back({"out [GB]", 8, bytes(&Result::Bytes::d2h)});
  all.push_back({"d2d [GB]", 8, bytes(&Result::Bytes::d2d)});
  return all;
}

void Report::begin() {
  const auto& machine = options_.machine;
  std::string gpus;
  for (int gpu = 0; gpu < machine.gpu_count(); gpu++) gpus += (gpu > 0 ? ", " : "") + machine.kind_of(gpu).name;
  note(fmt::format("Simulated {}: {} cores; {}", machine.name, machine.cores, gpus));
  columns_ = columns();
  std::string head;
  for (const auto& column : columns_) head += aligned(column.head, column.width);
  note("\n" + trimmed(head));
}

double Report::peak(const Run& run) const {
  double sum = 0;
  for (int gpu = 0; gpu < run.gpus; gpu++) sum += options_.machine.kind_of(gpu).best_rate(run.problem.type);
  return sum > 0 ? sum : run.cpus * options_.machine.core_rate;
}

Report::Row Report::row(const Run& run, const Outcome& outcome) const {
  Result r;
  r.routine = run.routine, r.problem = run.problem, r.pinned = true, r.library = "tessera";
  r.gpus = run.gpus, r.cpus = run.cpus, r.repeat = 1;
  r.tile_m = outcome.tile_m, r.tile_n = outcome.tile_n, r.tile_k = outcome.tile_k;
  r.policy = outcome.policy, r.placement = outcome.placement;
  r.timing = bench::Timing{outcome.seconds, outcome.seconds, outcome.seconds};
  Result::Bytes bytes;
  for (const auto& gpu : outcome.gpus) bytes.h2d += gpu.h2d, bytes.d2h += gpu.d2h, bytes.d2d += gpu.d2d_in;
  r.bytes = bytes;
  const auto least = run.routine->compulsory(run.problem);
  r.bytes_min_h2d = run.gpus > 0 ? least.in : 0;
  r.limit = r.flops() / peak(run);
  if (run.gpus > 0)
    r.limit = std::max(
        {r.limit, least.in / options_.machine.total_in(run.gpus), least.out / options_.machine.total_out(run.gpus)});
  return {std::move(r), outcome, peak(run)};
}

void Report::add(const Run& run, const Outcome& outcome) {
  const auto all = row(run, outcome);
  std::string line;
  for (const auto& column : columns_) line += aligned(column.cell(all), column.width);
  note(trimmed(line));
  for (std::size_t i = 0; i < outcome.gpus.size() && !options_.brief; i++) {
    const auto& gpu = outcome.gpus[i];
    note(fmt::format("  GPU {}: idle {}, last task ends at {} s; {} GB in, {} out, {} from peers", i,
                     percent(idle_share(gpu, outcome.seconds)), significant(gpu.last_end, 4), gigabytes(gpu.h2d),
                     gigabytes(gpu.d2h), gigabytes(gpu.d2d_in)));
  }
  write_json(all);
}

void Report::write_json(const Row& row) {
  if (options_.json.empty()) return;
  auto json = to_json(row.result);
  json["platform"] = options_.machine.name;
  json["gpu_memory_mib"] = options_.gpu_memory > 0 ? nlohmann::ordered_json(options_.gpu_memory) : nullptr;
  auto& list = json["per_gpu"] = nlohmann::ordered_json::array();
  for (const auto& gpu : row.outcome.gpus)
    list.push_back(
        {{"h2d", gpu.h2d}, {"d2h", gpu.d2h}, {"d2d_in", gpu.d2d_in}, {"busy", gpu.busy}, {"last_end", gpu.last_end}});
  if (options_.json == "-") {
    fmt::print("{}\n", json.dump());
    if (std::fflush(stdout) != 0) throw RuntimeError("standard output cannot be written any more");
  } else {
    json_ << json.dump() << std::endl;
    if (!json_) throw RuntimeError("the file for --json cannot be written any more");
  }
}

void Report::note(const std::string& text) const {
  fmt::print(table_, "{}\n", text);
  std::fflush(table_);
}

}  // namespace tessera::simulate
