// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/simulate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/policy_names.hpp"
#include "runtime/start_options.hpp"
#include "shared/formatting.hpp"
#include "workload/explanation.hpp"
#include "workload/result.hpp"

namespace tessera::simulate {

using bench::DeviceRates, bench::Result;
using tools::gigabytes, tools::percent, tools::significant;

namespace {

/// The fraction of the time in which a GPU ran tasks.
double computing_share(const GpuUse& gpu, double seconds) { return gpu.busy / seconds; }

/// The average over all GPUs.
double average_computing(const Outcome& outcome) {
  double sum = 0;
  for (const auto& gpu : outcome.gpus) sum += computing_share(gpu, outcome.seconds);
  return sum / static_cast<double>(outcome.gpus.size());
}

/// The time between the first GPU's last end and the last GPU's, as a fraction of the total time.
double imbalance(const Outcome& outcome) {
  const auto [first, last] = std::ranges::minmax_element(outcome.gpus, {}, &GpuUse::last_end);
  return (last->last_end - first->last_end) / outcome.seconds;
}

/// The text of a number that only exists if there are GPUs.
template <double number(const Outcome&), typename Row>
std::string of_gpus(const Row& row) {
  return row.outcome.gpus.empty() ? "-" : percent(number(row.outcome));
}

/// The machine, in one line.
std::string describe_machine(const device::simulated::Machine& machine) {
  std::string gpus;
  for (int gpu = 0; gpu < machine.gpu_count(); gpu++) gpus += (gpu > 0 ? ", " : "") + machine.kind_of(gpu).name;
  return fmt::format("Simulated {}: {} cores; {}", machine.name, machine.cores, gpus);
}

/// The statistics of each GPU, of the links and of the policy, as lines of text.
std::vector<std::string> describe_gpus(const Outcome& outcome) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < outcome.gpus.size(); i++)
    lines.push_back(fmt::format("  GPU {}: computing {}, last task ends at {} s", i,
                                percent(computing_share(outcome.gpus[i], outcome.seconds)),
                                significant(outcome.gpus[i].last_end, 4)));
  std::string tasks;
  for (const auto& gpu : outcome.gpus) tasks += (tasks.empty() ? "" : ", ") + std::to_string(gpu.tasks);
  if (!tasks.empty())
    lines.push_back(fmt::format("  tasks: {} on the GPU{}, {} on {} core{}", tasks, outcome.gpus.size() > 1 ? "s" : "",
                                outcome.core_tasks, outcome.cpus, outcome.cpus == 1 ? "" : "s"));
  for (auto& more : tools::describe(outcome.activity)) lines.push_back(std::move(more));
  return lines;
}

/// The bytes and the computing time of each GPU.
nlohmann::ordered_json gpus_json(const Outcome& outcome) {
  auto list = nlohmann::ordered_json::array();
  const auto traffic = tools::by_gpu(outcome.activity);
  for (std::size_t i = 0; i < outcome.gpus.size(); i++) {
    const auto& gpu = outcome.gpus[i];
    list.push_back({{"h2d", traffic[i].in},
                    {"d2h", traffic[i].out},
                    {"d2d_in", traffic[i].from_peers},
                    {"busy", gpu.busy},
                    {"last_end", gpu.last_end},
                    {"tasks", gpu.tasks}});
  }
  return list;
}

/// The width of a column with the names of the policies.
int policy_width(const Options& options) {
  std::size_t longest = 8;
  for (const auto& policy : options.policies) longest = std::max(longest, policy.size());
  return static_cast<int>(longest);
}

/// The library that contains each policy, in one line.
std::string describe_policies(const Options& options) {
  std::vector<std::string> lines;
  for (const auto& policy : options.policies) {
    RuntimeOptions wanted;
    wanted.policy = policy;
    auto name = runtime::with_environment(wanted).policy;
    if (name.empty()) name = runtime::our_policy;
    lines.push_back(fmt::format("{} from {}", name, runtime::policy_file(name)));
  }
  return fmt::format("Policies: {}", fmt::join(lines, ", "));
}

}  // namespace

std::vector<tools::Column<Report::Row>> Report::columns_of_calls() const {
  const auto result = [](const Row& r) -> const Result& { return r.result; };
  auto all = bench::call_columns<Row>(options_.calls(), result);
  all.push_back({"GPUs", 4, [](const Row& r) { return std::to_string(r.result.gpus); }});
  all.push_back({"cores", 5, [](const Row& r) { return std::to_string(r.outcome.cores()); }});
  all.push_back({"policy", -policy_width(options_), [](const Row& r) { return r.result.policy; }});
  all.push_back({"placement", -9, [](const Row& r) { return r.result.placement; }});
  all.push_back({"tile", 9, [](const Row& r) { return describe_tile(r.result); }});
  all.push_back({"time [s]", 8, [](const Row& r) { return significant(r.outcome.seconds, 4); }});
  all.push_back(bench::predicted_column<Row>(result));
  all.push_back({"TFLOP/s", 7, [](const Row& r) { return significant(r.result.rate() * 1e-12, 4); }});
  all.push_back({"of peak", 7, [](const Row& r) { return percent(r.result.rate() / r.peak); }});
  all.push_back({"computing", 9, of_gpus<average_computing, Row>});
  all.push_back({"uneven", 6, of_gpus<imbalance, Row>});
  for (auto& column : bench::traffic_columns<Row>(result)) all.push_back(std::move(column));
  return all;
}

std::vector<tools::Column<Report::Row>> Report::columns_of_programs() const {
  const auto bytes = [](std::uint64_t Statistics::*of) {
    return [=](const Row& r) { return gigabytes(static_cast<double>(r.outcome.activity.total.*of)); };
  };
  return {{"GPUs", 4, [](const Row& r) { return std::to_string(r.run.gpus); }},
          {"CPUs", 4, [](const Row& r) { return std::to_string(r.run.cpus); }},
          {"policy", -policy_width(options_), [](const Row& r) { return r.outcome.policy; }},
          {"time [s]", 8, [](const Row& r) { return significant(r.outcome.seconds, 4); }},
          {"computing", 9, of_gpus<average_computing, Row>},
          {"uneven", 6, of_gpus<imbalance, Row>},
          {"GB in", 7, bytes(&Statistics::bytes_h2d)},
          {"GB out", 7, bytes(&Statistics::bytes_d2h)},
          {"GB between", 10, bytes(&Statistics::bytes_d2d)}};
}

void Report::begin() {
  note(describe_machine(options_.machine));
  note(describe_policies(options_));
  if (!reports_calls()) note(fmt::format("Program: {}", fmt::join(options_.program, " ")));
  if (options_.explain) return;
  columns_ = reports_calls() ? columns_of_calls() : columns_of_programs();
  note("\n" + tools::table_head(columns_));
}

double Report::peak(const Run& run) const {
  double sum = 0;
  for (int gpu = 0; gpu < run.gpus; gpu++) sum += options_.machine.kind_of(gpu).best_rate(run.problem.type);
  return sum > 0 ? sum : run.cpus * device::simulated::rate_of_cores(run.problem.type, options_.machine.core_rate);
}

Result Report::result(const Run& run, const Outcome& outcome, double peak) const {
  Result r;
  r.routine = run.routine, r.problem = run.problem, r.memory = name_of(*options_.memory), r.library = "tessera";
  r.gpus = run.gpus, r.cpus = outcome.cpus, r.repeat = 1;
  r.tile_m = outcome.tile_m, r.tile_n = outcome.tile_n, r.tile_k = outcome.tile_k, r.predicted = outcome.predicted;
  r.policy = outcome.policy, r.placement = outcome.placement;
  r.timing = bench::Timing{outcome.seconds, outcome.seconds, outcome.seconds};
  r.activity = outcome.activity;
  const auto least = run.routine->compulsory(run.problem);
  r.bytes_min_h2d = run.gpus > 0 ? least.in : 0;
  DeviceRates rates{.flops = peak};
  if (run.gpus > 0) {  // cores may compute tiles, too
    if (outcome.core_tasks > 0)
      rates.beside = outcome.cpus * device::simulated::rate_of_cores(run.problem.type, options_.machine.core_rate);
    rates.flops += rates.beside;
    rates.in = options_.machine.total_in(run.gpus), rates.out = options_.machine.total_out(run.gpus);
    rates.both = options_.machine.total_both(run.gpus);
  }
  r.parts = bench::limit_parts(r.flops(), least, rates);
  r.limit = r.parts.longest();
  return r;
}

void Report::add(const Run& run, const Outcome& outcome) {
  Row row{run, outcome};
  if (reports_calls()) row.peak = peak(run), row.result = result(run, outcome, row.peak);
  note(tools::table_line(columns_, row));
  if (!options_.brief)
    for (const auto& more : describe_gpus(outcome)) note(more);
  json_.write(json(row));
  if (options_.sweep) regrets_.add(row.result, {run.gpus, run.tile});
}

void Report::explain(const Outcome& outcome) {
  const auto json = nlohmann::ordered_json::parse(outcome.explanation);
  note("");
  for (const auto& line : bench::explanation_lines(json)) note(line);
  json_.write(json);
}

void Report::end() {
  if (!options_.sweep) return;
  for (const auto& line : regrets_.lines()) note(line);
  for (const auto& object : regrets_.json()) json_.write(object);
}

nlohmann::ordered_json Report::json(const Row& row) const {
  const auto& [run, outcome, peak, result] = row;
  const auto& total = outcome.activity.total;
  nlohmann::ordered_json json, gpu_memory;
  if (options_.gpu_memory > 0) gpu_memory = options_.gpu_memory;
  if (reports_calls()) {
    json = to_json(result);
    json["platform"] = options_.machine.name;
    json["policy_library"] = runtime::policy_file(result.policy);
    json["gpu_memory_mib"] = gpu_memory;
    json["core_tasks"] = outcome.core_tasks;
  } else {
    json = {{"program", options_.program},
            {"platform", options_.machine.name},
            {"gpus", run.gpus},
            {"cpus", run.cpus},
            {"policy", outcome.policy},
            {"policy_library", runtime::policy_file(outcome.policy)},
            {"gpu_memory_mib", gpu_memory},
            {"median_s", outcome.seconds},
            {"bytes_h2d", total.bytes_h2d},
            {"bytes_d2h", total.bytes_d2h},
            {"bytes_d2d", total.bytes_d2d},
            {"links", tools::links_json(outcome.activity)},
            {"scheduling", tools::scheduling_json(outcome.activity)}};
  }
  json["per_gpu"] = gpus_json(outcome);
  return json;
}

}  // namespace tessera::simulate
