// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/options.hpp"
#include "runtime/policy_names.hpp"
#include "shared/text.hpp"
#include "workload/columns.hpp"
#include "workload/explanation.hpp"

namespace tessera::simulate {

using bench::DeviceRates, bench::Result;
using tools::percent, tools::significant;

std::string describe_machine(const simulation::Machine& machine) {
  std::string gpus;
  for (int gpu = 0; gpu < machine.gpu_count(); gpu++) gpus += (gpu > 0 ? ", " : "") + machine.kind_of(gpu).name;
  return fmt::format("Simulated {}: {} cores; {}", machine.name, machine.cores, gpus);
}

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

std::string describe_policies(const Options& options) {
  std::vector<std::string> lines;
  for (const auto& policy : options.policies) {
    RuntimeOptions wanted;
    wanted.policy = policy;
    auto name = detail::with_environment(wanted).policy;
    if (name.empty()) name = detail::our_policy;
    lines.push_back(fmt::format("{} from {}", name, detail::policy_file(name)));
  }
  return fmt::format("Policies: {}", fmt::join(lines, ", "));
}

Report::Report(const Options& options) : options_(options), json_(options.json) {}

std::vector<tools::Column<Report::Row>> Report::columns() const {
  const auto result = [](const Row& r) -> const Result& { return r.result; };
  const auto of_gpus = [](double (*number)(const Outcome&)) {
    return [=](const Row& r) { return r.outcome.gpus.empty() ? "-" : percent(number(r.outcome)); };
  };
  auto all = bench::call_columns<Row>(options_.problems, result);
  all.push_back({"GPUs", 4, [](const Row& r) { return std::to_string(r.result.gpus); }});
  all.push_back({"cores", 5, [](const Row& r) { return std::to_string(r.outcome.cores()); }});
  all.push_back({"policy", -8, [](const Row& r) { return r.result.policy; }});
  all.push_back({"placement", -9, [](const Row& r) { return r.result.placement; }});
  all.push_back({"tile", 9, [](const Row& r) { return describe_tile(r.result); }});
  all.push_back({"time [s]", 8, [](const Row& r) { return significant(r.outcome.seconds, 4); }});
  all.push_back(bench::predicted_column<Row>(result));
  all.push_back({"TFLOP/s", 7, [](const Row& r) { return significant(r.result.rate() * 1e-12, 4); }});
  all.push_back({"of peak", 7, [](const Row& r) { return percent(r.result.rate() / r.peak); }});
  all.push_back({"computing", 9, of_gpus(average_computing)});
  all.push_back({"uneven", 6, of_gpus(imbalance)});
  for (auto& column : bench::traffic_columns<Row>(result)) all.push_back(std::move(column));
  return all;
}

void Report::begin() {
  note(describe_machine(options_.machine));
  note(describe_policies(options_));
  if (options_.explain) return;
  columns_ = columns();
  note("\n" + tools::table_head(columns_));
}

double Report::peak(const Run& run) const {
  double sum = 0;
  for (int gpu = 0; gpu < run.gpus; gpu++) sum += options_.machine.kind_of(gpu).best_rate(run.problem.type);
  return sum > 0 ? sum : run.cpus * options_.machine.core_rate;
}

Report::Row Report::row(const Run& run, const Outcome& outcome) const {
  Result r;
  r.routine = run.routine, r.problem = run.problem, r.memory = name_of(*options_.memory), r.library = "tessera";
  r.gpus = run.gpus, r.cpus = outcome.cpus, r.repeat = 1;
  r.tile_m = outcome.tile_m, r.tile_n = outcome.tile_n, r.tile_k = outcome.tile_k, r.predicted = outcome.predicted;
  r.policy = outcome.policy, r.placement = outcome.placement;
  r.timing = bench::Timing{outcome.seconds, outcome.seconds, outcome.seconds};
  r.activity = outcome.activity;
  const auto least = run.routine->compulsory(run.problem);
  r.bytes_min_h2d = run.gpus > 0 ? least.in : 0;
  DeviceRates rates{.flops = peak(run)};
  if (run.gpus > 0) {
    rates.in = options_.machine.total_in(run.gpus), rates.out = options_.machine.total_out(run.gpus);
    rates.both = options_.machine.total_both(run.gpus);
  }
  r.parts = bench::limit_parts(r.flops(), least, rates);
  r.limit = r.parts.longest();
  return {std::move(r), outcome, peak(run)};
}

void Report::add(const Run& run, const Outcome& outcome) {
  const auto all = row(run, outcome);
  note(tools::table_line(columns_, all));
  if (!options_.brief)
    for (const auto& more : describe_gpus(outcome)) note(more);
  json_.write(json(all));
  if (options_.sweep) regrets_.add(all.result);
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
  auto json = to_json(row.result);
  json["platform"] = options_.machine.name;
  json["policy_library"] = detail::policy_file(row.result.policy);
  json["gpu_memory_mib"] = options_.gpu_memory > 0 ? nlohmann::ordered_json(options_.gpu_memory) : nullptr;
  json["core_tasks"] = row.outcome.core_tasks;
  json["per_gpu"] = gpus_json(row.outcome);
  return json;
}

void Report::note(const std::string& text) const { json_.note(text); }

}  // namespace tessera::simulate
