// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include "trace/output/draw.hpp"

namespace tessera::trace {

namespace {

struct Entry {
  std::string name;
  std::uint32_t colour = 0;
  enum class Shape { Filled, Outlined } shape = Shape::Filled;
};

/// An upper bound of an entry's width, because text is measured only when it is drawn.
double room_of(const Entry& entry) { return 20 + 0.7 * Canvas::small * static_cast<double>(entry.name.size()); }

/// Entries for everything in the chart, in the order of the run.
std::vector<Entry> legend(const Explained& explained) {
  const auto& [run, analysis] = explained;
  std::vector<Entry> entries;
  std::set<int> used;
  for (const auto& task : run.tasks)
    if (task.worker >= 0) used.insert(task.routine);
  for (const int routine : used) {
    if (routine < 0 || routine >= static_cast<int>(run.routines.size())) continue;
    const auto& [name, colour] = run.routines[static_cast<std::size_t>(routine)];
    entries.push_back({name, colour});
  }
  if (!analysis.path.tasks.empty()) entries.push_back({"critical path", black, Entry::Shape::Outlined});
  std::set<char> operands;
  for (const auto& transfer : run.transfers) operands.insert(transfer.operand);
  for (const char operand : operands)
    if (operand != '-') entries.push_back({std::string("tile of ") + operand, operand_colour(operand)});
  if (operands.contains('-')) entries.push_back({"other tile", operand_colour('-')});
  return entries;
}

}  // namespace

int Chart::legend_lines() const {
  int lines = 1;
  double x = left;
  for (const auto& entry : legend(run_)) {
    if (x + room_of(entry) > width - margin) x = left, ++lines;
    x += room_of(entry);
  }
  return lines;
}

void Chart::draw_legend(Canvas& canvas) const {
  double x = left, y = legend_top_ + line_height;
  for (const auto& entry : legend(run_)) {
    if (x + room_of(entry) > width - margin) x = left, y += line_height;
    canvas.colour(entry.colour);
    canvas.box({x, y - 5.5, 8, 5.5});
    if (entry.shape == Entry::Shape::Filled) canvas.fill();
    else canvas.stroke(0.8);
    canvas.colour(black);
    canvas.text(entry.name, x + 10.5, y);
    x += canvas.width_of(entry.name) + 20;
  }
}

}  // namespace tessera::trace
