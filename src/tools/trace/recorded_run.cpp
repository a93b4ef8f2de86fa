// SPDX-License-Identifier: BSD-3-Clause
#include "trace/recorded_run.hpp"

#include <fmt/format.h>

namespace tessera::trace {

namespace {

/// "C(3,5)", as far as the position is known.
std::string place(char operand, int row, int column) {
  std::string text = operand == '-' ? "tile" : std::string(1, operand);
  if (row == none || column == none) return text;
  return fmt::format("{}({},{})", text, row, column);
}

}  // namespace

std::string name_of(const Run& run, const Task& task) {
  std::string text = task.routine == none ? "task" : run.routines[static_cast<std::size_t>(task.routine)].name;
  if (task.output != '-' || task.row != none) text += " " + place(task.output, task.row, task.column);
  else if (task.job != 0) text += " " + std::to_string(task.job);
  if (task.step != none) text += " k=" + std::to_string(task.step);
  return text;
}

std::string name_of(const Run& run, int tile, char operand) {
  if (tile == none) return place(operand, none, none);
  const auto& known = run.tiles[static_cast<std::size_t>(tile)];
  return place(operand == '-' ? known.operand : operand, known.row, known.column);
}

std::string link_name(const Run& run, int from, int to) {
  const auto name = [&](int node) { return run.nodes[static_cast<std::size_t>(node)].name; };
  return name(from) + " → " + name(to);
}

}  // namespace tessera::trace
