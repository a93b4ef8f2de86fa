// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "trace/output/draw.hpp"
#include "trace/output/draw_parts.hpp"

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
  const auto& [run, analysis] = explained;
  std::vector<Row> result;
  std::map<int, std::size_t> row_of;
  for (const int w : analysis.shown_workers) {
    const auto& worker = run.workers[static_cast<std::size_t>(w)];
    row_of[w] = result.size();
    auto& row = result.emplace_back();
    row.name = worker.name, row.worker = w;
    if (run.span > 0)
      row.share = std::clamp(analysis.workers[static_cast<std::size_t>(w)].computing / run.span, 0.0, 1.0);
    row.height = worker.kind == Kind::Gpu ? 13 : height(analysis.shown_workers.size(), 11, 170);
  }
  for (const auto& task : run.tasks) {
    const auto row = row_of.find(task.worker);
    if (row == row_of.end()) continue;
    const bool known = task.routine >= 0 && task.routine < static_cast<int>(run.routines.size());
    add(result[row->second], run, task.start, task.end,
        known ? run.routines[static_cast<std::size_t>(task.routine)].colour : 0x8c8c8c);
  }
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

std::vector<Bar> bars(const std::vector<Span>& spans, double top, double height, double narrow) {
  constexpr double seam = 0.3, hair = 0.1;  // points: gap between neighbours; narrowest rectangle
  struct Column {
    int spans = 0;
    std::map<std::uint32_t, double> covered;
  };
  const auto first_of = [narrow](const Span& span) { return static_cast<long>(std::floor(span.begin / narrow)); };
  const auto last_of = [&](const Span& span) {
    return std::max(first_of(span), static_cast<long>(std::ceil(span.end / narrow)) - 1);
  };
  std::map<long, Column> columns;
  for (const auto& span : spans) {
    if (span.end - span.begin >= narrow) continue;
    for (long number = first_of(span); number <= last_of(span); ++number) {
      const double edge = static_cast<double>(number) * narrow;
      auto& column = columns[number];
      ++column.spans;
      column.covered[span.colour] += std::min(span.end, edge + narrow) - std::max(span.begin, edge);
    }
  }
  std::vector<Bar> result;
  for (const auto& span : spans) {
    const auto& [begin, end, colour] = span;
    const double width = end - begin;
    if (width >= narrow) {
      result.push_back({{begin, top, width > 4 * seam ? width - seam : width, height}, colour});
    } else if (const long first = first_of(span), last = last_of(span);
               columns[first].spans == 1 && columns[last].spans == 1) {
      result.push_back({{begin, top, std::max(hair, width), height}, colour});
      columns[first].covered.clear(), columns[last].covered.clear();
    }
  }
  for (const auto& [number, column] : columns) {
    double sum = 0, bottom = top + height;
    for (const auto& [colour, width] : column.covered) sum += width;
    for (const auto& [colour, width] : column.covered) {
      const double share = height * width / std::max(sum, narrow);
      result.push_back({{static_cast<double>(number) * narrow, bottom - share, narrow, share}, colour});
      bottom -= share;
    }
  }
  return result;
}

Drawn Chart::draw_bars(Canvas& canvas) const {
  constexpr std::size_t most = 15000;  // each takes 100 bytes in SVG
  const auto cut = [this](const std::vector<Row>& rows, double narrow) {
    std::vector<Bar> result;
    for (const auto& row : rows) {
      std::vector<Span> spans;
      for (std::size_t i = 0; i < row.times.size(); ++i)
        spans.push_back({x(row.times[i].first), x(row.times[i].second), row.colours[i]});
      std::ranges::move(bars(spans, row.top, row.height, narrow), std::back_inserter(result));
    }
    return result;
  };
  std::vector<Bar> tasks, transfers;
  for (double narrow = 0.1;; narrow *= 2) {
    tasks = cut(workers_, narrow), transfers = cut(links_, narrow);
    if (tasks.size() + transfers.size() <= most || narrow > right - left) break;
  }
  std::map<std::uint32_t, std::vector<Box>>
      boxes;  // one path per colour avoids gaps between neighbours and saves space
  for (const auto* some : {&tasks, &transfers})
    for (const auto& bar : *some) boxes[bar.colour].push_back(bar.box);
  for (const auto& [colour, of_colour] : boxes) {
    canvas.colour(colour);
    for (const auto& box : of_colour) canvas.box(box);
    canvas.fill();
  }
  return {tasks.size(), transfers.size()};
}

}  // namespace tessera::trace
