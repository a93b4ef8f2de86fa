// SPDX-License-Identifier: BSD-3-Clause
#include "workload/regrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "shared/formatting.hpp"
#include "workload/result.hpp"

namespace tessera::bench {

namespace {

bool is_same_call(const Result& a, const Result& b) {
  const auto &p = a.problem, &q = b.problem;
  return a.routine == b.routine && p.type == q.type && p.m == q.m && p.n == q.n && p.k == q.k;
}

}  // namespace

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

void Regrets::add(const Result& result) {
  const auto same = std::ranges::find_if(rows_, [&](const Row& row) { return is_same_call(row.chosen, result); });
  if (same == rows_.end()) rows_.push_back({result, result});
  else if (result.timing->median < same->best.timing->median) same->best = result;
}

std::vector<std::string> Regrets::lines() const {
  std::vector<Problem> problems;
  for (const auto& row : rows_) problems.push_back(row.chosen.problem);
  auto columns = call_columns<Row>(problems, [](const Row& row) -> const Result& { return row.chosen; });
  for (const auto& [name, which] : {std::pair{"chosen [s]", &Row::chosen}, {"best [s]", &Row::best}}) {
    columns.push_back(
        {name, 10, [which](const Row& row) { return tools::significant((row.*which).timing->median, 4); }});
    columns.push_back({"GPUs", 4, [which](const Row& row) { return std::to_string((row.*which).gpus); }});
    columns.push_back({"tile", 9, [which](const Row& row) { return describe_tile(row.*which); }});
  }
  columns.push_back({"regret", 6, [](const Row& row) { return fmt::format("{:.2f}", row.regret()); }});
  std::vector<std::string> lines{"", tools::table_head(columns)};
  double sum = 0, most = 1;
  for (const auto& row : rows_) {
    lines.push_back(tools::table_line(columns, row));
    sum += std::log(row.regret()), most = std::max(most, row.regret());
  }
  if (!rows_.empty())
    lines.push_back(fmt::format("regret: geometric mean {:.3f}, at most {:.3f}",
                                std::exp(sum / static_cast<double>(rows_.size())), most));
  return lines;
}

std::vector<nlohmann::ordered_json> Regrets::json() const {
  std::vector<nlohmann::ordered_json> all;
  for (const auto& row : rows_)
    all.push_back({{"regret", row.regret()}, {"chosen", to_json(row.chosen)}, {"best", to_json(row.best)}});
  return all;
}

}  // namespace tessera::bench
