// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include "trace/output/draw.hpp"

namespace tessera::trace {

void Chart::draw_path(Canvas& canvas) const {
  struct Stay {
    const Row* row;
    double begin, end;
  };
  std::map<int, const Row*> row_of;
  for (const auto& row : workers_)
    for (const int worker : row.workers) row_of[worker] = &row;
  std::vector<Stay> stays;
  // Tasks that follow each other closely on a worker share one outline. The limit grows until there are few enough
  // outlines.
  for (double close = 0.5; stays.empty() || stays.size() > 1500; close *= 2) {
    stays.clear();
    for (const int i : run_.analysis.path.tasks) {
      const auto& task = run_.run.tasks.at(static_cast<std::size_t>(i));
      const auto row = row_of.find(task.worker);
      if (row == row_of.end()) continue;
      const Stay stay{row->second, x(task.start), x(task.end)};
      if (!stays.empty() && stays.back().row == stay.row && stay.begin - stays.back().end < close)
        stays.back().end = std::max(stays.back().end, stay.end);
      else stays.push_back(stay);
    }
    if (stays.empty()) return;
    if (close > right - left) break;
  }
  canvas.colour(black);
  for (const auto& [row, begin, end] : stays) canvas.box({begin, row->top, std::max(end - begin, 0.1), row->height});
  canvas.stroke(0.8);
  for (std::size_t i = 1; i < stays.size(); ++i) {
    const auto &from = stays[i - 1], &to = stays[i];
    canvas.line(from.end, from.row->top + from.row->height / 2, to.begin, to.row->top + to.row->height / 2);
  }
  canvas.stroke(0.5);
}

}  // namespace tessera::trace
