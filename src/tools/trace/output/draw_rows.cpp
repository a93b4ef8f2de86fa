// SPDX-License-Identifier: BSD-3-Clause
#include "trace/output/draw_rows.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "trace/output/draw_scale.hpp"

namespace tessera::trace {

namespace {

/// The height of a row: high enough for its name if there are few rows, at most `room` for all of them.
double height(std::size_t count, double most, double room) {
  return std::clamp(room / static_cast<double>(std::max<std::size_t>(count, 1)), 1.6, most);
}

void add(Row& row, const Run& run, double begin, double end, std::uint32_t colour) {
  begin = std::max(begin, 0.0), end = std::min(end, run.span);
  if (!(begin <= end)) return;  // it never started
  row.times.emplace_back(begin, end);
  row.colours.push_back(colour);
}

}  // namespace

std::uint32_t operand_colour(char operand) {
  switch (operand) {
  case 'A': return 0xe69f00;
  case 'B': return 0x009e73;
  case 'C': return 0xcc79a7;
  default: return 0x8c8c8c;
  }
}

std::vector<Row> worker_rows(const Explained& explained) {
  const auto& run = explained.run;
  const auto& analysis = explained.analysis;
  std::vector<std::vector<int>> tasks(run.workers.size());
  for (std::size_t i = 0; i < run.tasks.size(); ++i)
    if (const int worker = run.tasks[i].worker; worker >= 0 && worker < static_cast<int>(tasks.size()))
      tasks[static_cast<std::size_t>(worker)].push_back(static_cast<int>(i));

  std::vector<Row> result;
  for (std::size_t w = 0; w < tasks.size(); ++w) {
    if (tasks[w].empty() && run.workers[w].kind != Kind::Gpu) continue;  // the summary counts idle cores
    auto& row = result.emplace_back();
    row.name = run.workers[w].name;
    row.workers = {static_cast<int>(w)};
    if (run.span > 0 && w < analysis.workers.size())
      row.share = std::clamp(analysis.workers[w].computing / run.span, 0.0, 1.0);
    for (const int i : tasks[w]) {
      const auto& task = run.tasks[static_cast<std::size_t>(i)];
      const bool known = task.routine >= 0 && task.routine < static_cast<int>(run.routines.size());
      add(row, run, task.start, task.end,
          known ? run.routines[static_cast<std::size_t>(task.routine)].colour : 0x8c8c8c);
    }
  }
  std::ranges::stable_sort(result, std::greater{}, [&](const Row& row) {
    return run.workers[static_cast<std::size_t>(row.workers[0])].kind == Kind::Gpu;
  });
  for (auto& row : result)
    row.height =
        run.workers[static_cast<std::size_t>(row.workers[0])].kind == Kind::Gpu ? 13 : height(result.size(), 11, 170);
  return result;
}

std::vector<Row> link_rows(const Explained& explained) {
  const auto& run = explained.run;
  const auto& analysis = explained.analysis;
  constexpr std::size_t many = 14;
  const auto host = [&run](int node) {
    return node < 0 || node >= static_cast<int>(run.nodes.size()) ||
           run.nodes[static_cast<std::size_t>(node)].kind == Kind::Host;
  };
  const auto peers = static_cast<std::size_t>(
      std::ranges::count_if(analysis.links, [&](const LinkUse& link) { return !host(link.from) && !host(link.to); }));
  // Rows are identified and ordered by kind of link, source (none: any GPU) and destination.
  const auto row_of = [&](int from, int to) {
    const int kind = host(from) ? 0 : host(to) ? 1 : 2;
    return std::tuple(kind, kind == 2 && peers > many ? none : from, to);
  };
  std::map<std::tuple<int, int, int>, Row> found;
  std::map<std::tuple<int, int, int>, double> bytes;
  for (const auto& link : analysis.links) bytes[row_of(link.from, link.to)] += static_cast<double>(link.bytes);
  for (const auto& transfer : run.transfers)
    add(found[row_of(transfer.from, transfer.to)], run, transfer.start, transfer.end, operand_colour(transfer.operand));
  std::vector<Row> result;
  for (auto& [key, row] : found) {
    const auto [kind, from, to] = key;
    row.name =
        from == none && kind == 2 ? "GPUs → " + run.nodes[static_cast<std::size_t>(to)].name : link_name(run, from, to);
    row.height = height(found.size(), 8, 150);
    row.amount = readable_bytes(bytes[key]);
    result.push_back(std::move(row));
  }
  return result;
}

}  // namespace tessera::trace
