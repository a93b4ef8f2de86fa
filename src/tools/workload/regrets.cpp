// SPDX-License-Identifier: BSD-3-Clause
#include "workload/regrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "shared/formatting.hpp"
#include "workload/result.hpp"

namespace tessera::bench {

namespace {

bool is_same_call(const Result& a, const Result& b) {
  const auto &p = a.problem, &q = b.problem;
  return a.routine == b.routine && p.type == q.type && p.m == q.m && p.n == q.n && p.k == q.k;
}

}  // namespace

bool is_choice(const Alternative& alternative, int gpus) { return alternative.tile == 0 && alternative.gpus == gpus; }

std::vector<int> gpu_counts(int gpus) {
  std::vector<int> counts;
  for (int count = 1; count < gpus; count *= 2) counts.push_back(count);
  counts.push_back(gpus);
  return counts;
}

std::vector<Alternative> alternatives(int gpus) {
  std::vector<Alternative> all{{gpus, 0}};
  for (const int count : gpu_counts(gpus))
    for (const Index tile : {0, 256, 512, 1024, 2048, 4096})
      if (tile > 0 || count != gpus) all.push_back({count, tile});
  return all;
}

bool suits(const Alternative& alternative, const Problem& p) {
  constexpr Index smallest = 256, most_across = 32;
  const Index tile = alternative.tile, largest = std::max({p.m, p.n, p.k});
  return tile == 0 || (most_across * tile >= largest && (tile == smallest || tile / 2 < largest));
}

std::optional<double> Regrets::Row::regret() const {
  if (chosen.failed()) return std::nullopt;  // otherwise there is a best result
  return best->timing->median > 0 ? chosen.timing->median / best->timing->median : 1;
}

void Regrets::add(const Result& result, const Alternative& way) {
  auto row = std::ranges::find_if(rows_, [&](const Row& other) { return is_same_call(other.chosen, result); });
  if (row == rows_.end()) {
    if (!is_choice(way, gpus_)) return;  // the choice could not be run
    row = rows_.insert(row, {result, {}});
  }
  if (result.failed()) return;
  if (!row->best || result.timing->median < row->best->timing->median) row->best = result;
}

std::vector<std::string> Regrets::lines() const {
  std::vector<std::pair<const Routine*, const Problem*>> calls;
  for (const auto& row : rows_) calls.emplace_back(row.chosen.routine, &row.chosen.problem);
  auto columns = call_columns<Row>(calls, [](const Row& row) -> const Result& { return row.chosen; });
  const auto add_columns = [&](const char* seconds, auto result_of) {
    const auto column = [&](const char* head, int width, auto text) {
      columns.push_back({head, width, [=](const Row& row) {
                           const Result* const result = result_of(row);
                           return result != nullptr ? text(*result) : "-";
                         }});
    };
    column(seconds, 10,
           [](const Result& r) { return r.failed() ? "FAILED" : tools::significant(r.timing->median, 4); });
    column("GPUs", 4, [](const Result& r) { return std::to_string(r.gpus); });
    column("tile", 9, describe_tile);
  };
  add_columns("chosen [s]", [](const Row& row) { return &row.chosen; });
  add_columns("best [s]", [](const Row& row) { return row.best ? &*row.best : nullptr; });
  columns.push_back({"regret", 6, [](const Row& row) {
                       const auto regret = row.regret();
                       return regret ? fmt::format("{:.2f}", *regret) : "-";
                     }});
  std::vector<std::string> lines{"", tools::table_head(columns)};
  double sum = 0, most = 1;
  int count = 0;
  for (const auto& row : rows_) {
    lines.push_back(tools::table_line(columns, row));
    if (const auto regret = row.regret()) sum += std::log(*regret), most = std::max(most, *regret), count++;
  }
  if (count > 0)
    lines.push_back(fmt::format("regret: geometric mean {:.3f}, at most {:.3f}", std::exp(sum / count), most));
  return lines;
}

std::vector<nlohmann::ordered_json> Regrets::json() const {
  std::vector<nlohmann::ordered_json> all;
  for (const auto& row : rows_) {
    const auto regret = row.regret();
    nlohmann::ordered_json object;
    object["regret"] = regret ? nlohmann::ordered_json(*regret) : nullptr;
    object["chosen"] = to_json(row.chosen);
    object["best"] = row.best ? to_json(*row.best) : nullptr;
    all.push_back(std::move(object));
  }
  return all;
}

}  // namespace tessera::bench
