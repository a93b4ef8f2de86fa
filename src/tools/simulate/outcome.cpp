// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/outcome.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tessera::simulate {

void to_json(nlohmann::json& json, const Outcome& o) {
  json = {{"error", o.error},
          {"explanation", o.explanation},
          {"bad_argument", o.bad_argument},
          {"seconds", o.seconds},
          {"m", o.tile_m},
          {"n", o.tile_n},
          {"k", o.tile_k},
          {"predicted", o.predicted},
          {"policy", o.policy},
          {"placement", o.placement},
          {"cpus", o.cpus},
          {"core_tasks", o.core_tasks},
          {"gpus", nlohmann::json::array()}};
  for (const auto& g : o.gpus) json["gpus"].push_back({g.busy, g.last_end, g.tasks});
  json["activity"] = o.activity;
}

void from_json(const nlohmann::json& json, Outcome& o) {
  o.explanation = json.at("explanation");
  o.error = json.at("error"), o.bad_argument = json.at("bad_argument"), o.seconds = json.at("seconds");
  o.tile_m = json.at("m"), o.tile_n = json.at("n"), o.tile_k = json.at("k");
  o.predicted = json.at("predicted");
  o.policy = json.at("policy"), o.placement = json.at("placement");
  o.cpus = json.at("cpus"), o.core_tasks = json.at("core_tasks");
  for (const auto& g : json.at("gpus")) o.gpus.push_back({g.at(0), g.at(1), g.at(2)});
  json.at("activity").get_to(o.activity);
}

double computing_share(const GpuUse& gpu, double seconds) { return gpu.busy / seconds; }

double average_computing(const Outcome& outcome) {
  double sum = 0;
  for (const auto& gpu : outcome.gpus) sum += computing_share(gpu, outcome.seconds);
  return sum / static_cast<double>(outcome.gpus.size());
}

double imbalance(const Outcome& outcome) {
  const auto [first, last] = std::ranges::minmax_element(outcome.gpus, {}, &GpuUse::last_end);
  return (last->last_end - first->last_end) / outcome.seconds;
}

}  // namespace tessera::simulate
