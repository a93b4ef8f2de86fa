// SPDX-License-Identifier: BSD-3-Clause
#include "trace/output/draw_bars.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "trace/output/draw.hpp"

namespace tessera::trace {

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
