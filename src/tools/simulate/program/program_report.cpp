// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/program/program_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/policy_names.hpp"
#include "shared/text.hpp"
#include "simulate/report.hpp"

namespace tessera::simulate {

using tools::gigabytes, tools::percent, tools::significant;

ProgramReport::ProgramReport(const Options& options) : options_(options), json_(options.json) {
  const auto of_gpus = [](double (*number)(const Outcome&)) {
    return [=](const Row& r) { return r.outcome.gpus.empty() ? "-" : percent(number(r.outcome)); };
  };
  const auto bytes = [](std::uint64_t Statistics::*of) {
    return [=](const Row& r) { return gigabytes(static_cast<double>(r.outcome.activity.total.*of)); };
  };
  columns_ = {{"GPUs", 4, [](const Row& r) { return std::to_string(r.run.gpus); }},
              {"CPUs", 4, [](const Row& r) { return std::to_string(r.run.cpus); }},
              {"policy", -8, [](const Row& r) { return r.outcome.policy; }},
              {"time [s]", 8, [](const Row& r) { return significant(r.outcome.seconds, 4); }},
              {"computing", 9, of_gpus(average_computing)},
              {"uneven", 6, of_gpus(imbalance)},
              {"GB in", 7, bytes(&Statistics::bytes_h2d)},
              {"GB out", 7, bytes(&Statistics::bytes_d2h)},
              {"GB between", 10, bytes(&Statistics::bytes_d2d)}};
}

void ProgramReport::begin() {
  json_.note(describe_machine(options_.machine));
  json_.note(describe_policies(options_));
  json_.note(fmt::format("Program: {}\n\n{}", fmt::join(options_.program, " "), tools::table_head(columns_)));
}

void ProgramReport::add(const Run& run, const Outcome& outcome) {
  const Row row{run, outcome};
  json_.note(tools::table_line(columns_, row));
  if (!options_.brief)
    for (const auto& more : describe_gpus(outcome)) json_.note(more);
  json_.write(json(row));
}

nlohmann::ordered_json ProgramReport::json(const Row& row) const {
  const auto& [run, outcome] = row;
  const auto& total = outcome.activity.total;
  nlohmann::ordered_json json{{"program", options_.program},
                              {"platform", options_.machine.name},
                              {"gpus", run.gpus},
                              {"cpus", run.cpus},
                              {"policy", outcome.policy},
                              {"policy_library", detail::policy_file(outcome.policy)},
                              {"gpu_memory_mib", options_.gpu_memory > 0 ? nlohmann::ordered_json(options_.gpu_memory)
                                                                         : nlohmann::ordered_json(nullptr)},
                              {"median_s", outcome.seconds},
                              {"bytes_h2d", total.bytes_h2d},
                              {"bytes_d2h", total.bytes_d2h},
                              {"bytes_d2d", total.bytes_d2d},
                              {"links", tools::links_json(outcome.activity)},
                              {"scheduling", tools::scheduling_json(outcome.activity)}};
  json["per_gpu"] = gpus_json(outcome);
  return json;
}

}  // namespace tessera::simulate
