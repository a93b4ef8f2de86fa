// SPDX-License-Identifier: BSD-3-Clause
#include "trace/output/draw.hpp"

#include <map>
#include <set>

#include "trace/output/draw_parts.hpp"

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

void Chart::draw_path(Canvas& canvas) const {
  struct Stay {
    const Row* row;
    double begin, end;
  };
  std::map<int, const Row*> row_of;
  for (const auto& row : workers_) row_of[row.worker] = &row;
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

namespace {

constexpr double row_gap = 1.2, panel_gap = 9;
constexpr std::uint32_t pale = 0xf1f1f1, alarm = 0xb03000;

double place(std::vector<Row>& rows, double top) {
  for (auto& row : rows) {
    row.top = top;
    top += row.height + (row.height > 5 ? row_gap : row_gap / 3);
  }
  return top;
}

}  // namespace

Chart::Chart(const Explained& run) : run_(run), workers_(worker_rows(run)), links_(link_rows(run)) {
  double top = margin + 2 * line_height + 3;
  const auto shown = std::min<std::size_t>(run.run.warnings.size(), 3);
  notes_.assign(run.run.warnings.begin(), run.run.warnings.begin() + static_cast<std::ptrdiff_t>(shown));
  legend_top_ = top += line_height * static_cast<double>(shown);
  top += line_height * (legend_lines() - 1);
  rows_top_ = top += 2 * line_height;
  top = place(workers_, top);
  top += links_.empty() ? 0 : panel_gap - row_gap;
  top = place(links_, top);
  const auto panel = [&top](double height) {
    const Panel result{top + panel_gap, height, left, right};
    top += height > 0 ? panel_gap + height : 0;
    return result;
  };
  const auto memories = memory_shown(run.run).size();
  memory_ = panel(memories == 0 ? 0 : std::max(40.0, 8.0 * static_cast<double>(memories)));
  ready_ = panel(run.analysis.ready.time.empty() ? 0 : 24);
  running_ = panel(run.analysis.running.time.empty() ? 0 : 24);
  axis_top_ = top + (running_.height > 0 ? 0 : 3);
  height_ = axis_top_ + 2 * line_height + 3 + margin;
}

double Chart::x(double seconds) const {
  const double part = run_.run.span > 0 ? seconds / run_.run.span : 0;
  return left + (right - left) * std::clamp(part, 0.0, 1.0);
}

void Chart::draw_heading(Canvas& canvas) const {
  const auto& [run, analysis] = run_;
  auto result = readable_time(run.span);
  if (analysis.flops > 0 && run.span > 0) {
    const double rate = analysis.flops / run.span;
    result = readable(rate, {rate < 1e12 ? "GFLOP/s" : "TFLOP/s", rate < 1e12 ? 1e9 : 1e12, 1, {}}) + ", " + result;
  }
  canvas.colour(black);
  canvas.letters(Canvas::large, true);
  const double result_x = width - margin - canvas.width_of(result);
  canvas.text(result, result_x, margin + Canvas::large);
  canvas.text_within(run.title, margin, margin + Canvas::large, result_x - 2 * margin - margin);
  canvas.letters(Canvas::small);
  auto where = run.machine;
  if (!run.policy.empty()) where += (where.empty() ? "policy " : " · policy ") + run.policy;
  if (run.simulated) where += " · simulated";
  double y = margin + Canvas::large + line_height + 1;
  canvas.colour(grey);
  canvas.text_within(where, margin, y, width - 2 * margin);
  canvas.colour(alarm);
  for (const auto& note : notes_) canvas.text_within(note, margin, y += line_height, width - 2 * margin);
}

void Chart::draw_grid(Canvas& canvas) const {
  canvas.colour(pale);
  for (const auto* rows : {&workers_, &links_})
    for (const auto& row : *rows) canvas.box({left, row.top, right - left, row.height});
  canvas.fill();
  const double bottom = axis_top_;
  canvas.colour(rule);
  if (run_.run.span > 0) {
    const auto scale = time_scale(run_.run.span, 10);
    for (const double tick : scale.ticks) canvas.line(x(tick), rows_top_ - 2, x(tick), bottom + 2.5);
    canvas.stroke(0.4);
    canvas.colour(black);
    for (const double tick : scale.ticks)
      canvas.text(scale.label(tick), x(tick), bottom + line_height + 2, Align::Middle);
    canvas.text(std::string("time [") + scale.unit + "]", (left + right) / 2, bottom + 2 * line_height + 3,
                Align::Middle);
  }
  canvas.colour(grey);
  canvas.line(left, bottom, right, bottom);
  canvas.stroke(0.6);
}

void Chart::draw_names(Canvas& canvas, const std::vector<Row>& rows) const {
  double free_from = 0;  // rows may be lower than their names; a name that would overlap the previous one is left out
  for (const auto& row : rows) {
    const double y = row.top + row.height / 2 + 2.5;
    if (y - Canvas::small < free_from) continue;
    free_from = y + 0.5;
    canvas.colour(black);
    canvas.text(row.name, left - 4, y, Align::Right);
    if (row.share <= 1) canvas.text(fmt::format("{:.0f} %", 100 * row.share), width - margin, y, Align::Right);
    else canvas.text(row.amount, width - margin, y, Align::Right);
  }
  canvas.colour(rule);
  constexpr double bar = 20;
  for (const auto& row : rows)
    if (row.share <= 1) canvas.box({right + 4, row.top + row.height * 0.2, bar, row.height * 0.6});
  canvas.fill();
  canvas.colour(grey);
  for (const auto& row : rows)
    if (row.share <= 1) canvas.box({right + 4, row.top + row.height * 0.2, bar * row.share, row.height * 0.6});
  canvas.fill();
}

Drawn Chart::draw(cairo_t* cairo) const {
  Canvas canvas(cairo);
  canvas.clear();
  draw_heading(canvas);
  draw_legend(canvas);
  draw_grid(canvas);
  const auto drawn = draw_bars(canvas);
  draw_path(canvas);
  draw_names(canvas, workers_);
  draw_names(canvas, links_);
  if (!workers_.empty()) canvas.colour(black), canvas.text("computing", width - margin, rows_top_ - 4, Align::Right);
  draw_panels(canvas);
  return drawn;
}

}  // namespace tessera::trace
