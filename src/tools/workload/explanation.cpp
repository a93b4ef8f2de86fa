// SPDX-License-Identifier: BSD-3-Clause
#include "workload/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan/considered.hpp"
#include "runtime/session.hpp"
#include "shared/formatting.hpp"
#include "workload/problem.hpp"

namespace tessera::bench {

namespace {

using Json = nlohmann::ordered_json;
using plan::Considered;

Json to_json(const Considered& c) {
  return {{"tile_m", c.tile.m}, {"tile_n", c.tile.n},       {"tile_k", c.tile.k},
          {"panels", c.panels}, {"gpus", c.gpus},           {"cores", c.cores},
          {"bound", c.bound},   {"predicted_s", c.seconds}, {"share", c.share}};
}

/// The plan as a candidate. If the plan was rehearsed, it equals the candidate with the same time.
Json chosen_of(const algorithms::Plan& plan, const machine::Machine& machine, const std::vector<Considered>& all) {
  const int gpus = plan.gpus > 0 ? plan.gpus : machine.gpu_count();
  const auto same =
      std::ranges::find_if(all, [&](const Considered& c) { return c.gpus == gpus && c.seconds == plan.seconds; });
  if (same != all.end()) return to_json(*same);
  const int cores = gpus == 0          ? machine.cpu_workers
                    : plan.has_cores() ? static_cast<int>(machine.sharing_cores.size())
                                       : 0;
  return to_json({plan.tile, plan.panels.exist(), gpus, cores, plan.seconds, "", 0});
}

std::string describe_call(const Json& json) {
  std::string text = json["type"].get<std::string>() + json["routine"].get<std::string>();
  for (const char* size : {"m", "n", "k"})
    if (!json[size].is_null()) text += fmt::format(" {}={}", size, json[size].get<Index>());
  for (const char* option : {"side", "uplo", "trans_a", "trans_b"})
    if (!json[option].is_null()) text += fmt::format(" {}={}", option, json[option].get<std::string>());
  return text;
}

std::string line_of(const char* what, const Json& json, bool right) {
  const auto tile = json["panels"] ? fmt::format("panels {}, {}", json[right ? "tile_m" : "tile_n"].get<Index>(),
                                                 json["tile_k"].get<Index>())
                                   : fmt::format("{}x{}x{}", json["tile_m"].get<Index>(), json["tile_n"].get<Index>(),
                                                 json["tile_k"].get<Index>());
  const double seconds = json["predicted_s"];
  const auto bound = json["bound"].get<std::string>();
  return tools::trimmed(fmt::format("  {:<7} {:>4} {:>5}  {:<16} {:>13}  {}", what, json["gpus"].get<int>(),
                                    json["cores"].get<int>(), tile, seconds > 0 ? tools::significant(seconds, 4) : "-",
                                    bound.empty() ? "" : fmt::format("{} {}", bound, tools::percent(json["share"]))));
}

}  // namespace

Json explain(const Routine& routine, const Problem& p) {
  auto machine = machine_for(p);
  std::vector<Considered> all;
  machine.considered = &all;
  const auto plan = routine.plan_of(p, machine);
  const auto takes = routine.takes();
  const auto known = [](const auto& value, bool is_known) { return is_known ? Json(value) : nullptr; };
  Json json{{"routine", routine.name()},
            {"type", std::string(1, p.type)},
            {"m", known(p.m, takes.m)},
            {"n", p.n},
            {"k", known(p.k, takes.k)},
            {"side", known(letter(p.side), takes.side)},
            {"uplo", known(letter(p.uplo), takes.uplo)},
            {"trans_a", known(letter(p.op_a), takes.trans_a)},
            {"trans_b", known(letter(p.op_b), takes.trans_b)},
            {"whole_call", routine.is_planned_whole()},
            {"reason", plan.reason},
            {"rehearsed", !all.empty()}};
  json["chosen"] = chosen_of(plan, machine, all);
  json["next"] = Json::array();
  std::ranges::stable_sort(all, {}, &Considered::seconds);
  for (const auto& other : all) {
    if (json["next"].size() == 3) break;
    auto next = to_json(other);
    const auto same = [&](const Json& before) {
      return std::ranges::all_of(std::array{"tile_m", "tile_n", "tile_k", "panels", "gpus", "cores"},
                                 [&](const char* key) { return before[key] == next[key]; });
    };
    if (!same(json["chosen"]) && std::ranges::none_of(json["next"], same)) json["next"].push_back(next);
  }
  return json;
}

std::vector<std::string> explanation_lines(const Json& json) {
  std::vector<std::string> lines{describe_call(json)};
  if (!json["reason"].get<std::string>().empty()) lines.push_back("  " + json["reason"].get<std::string>());
  if (!json["whole_call"]) lines.push_back("  The plan is of the factorization only.");
  lines.push_back("          GPUs cores  tile m x n x k   predicted [s]  longest part");
  const auto& chosen = json["chosen"];
  const bool right = json["side"] == letter(Side::Right);
  lines.push_back(line_of("chosen", chosen, right));
  for (const auto& next : json["next"]) lines.push_back(line_of("next", next, right));
  if (!json["rehearsed"]) lines.push_back("  Not rehearsed: the call has too many tasks.");
  const double seconds = chosen["predicted_s"];
  if (std::ranges::any_of(json["next"], [&](const Json& next) { return next["predicted_s"] < seconds; }))
    lines.push_back("  A faster candidate gains less than the error of predictions, or was not rehearsed in time.");
  return lines;
}

}  // namespace tessera::bench
