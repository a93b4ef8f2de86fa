// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "trace/output/draw.hpp"
#include "trace/output/draw_parts.hpp"

namespace tessera::trace {

namespace {

/// Visits the corners of the line. Keeps only the extremes of the changes within a quarter of a point.
template <class Corner>
void follow(const Curve& curve, Corner corner) {
  constexpr double step = 0.25;
  for (std::size_t i = 0; i < curve.x.size();) {
    double low = curve.value[i], high = low, last = low;
    const double x = curve.x[i];
    while (i < curve.x.size() && curve.x[i] <= x + step) {
      last = curve.value[i++];
      low = std::min(low, last), high = std::max(high, last);
    }
    corner(x, low, high, last);
  }
}

/// Adds the line of a curve to the path, up to the end of the panel.
/// @param scale  points per unit of the value
void trace_line(Canvas& canvas, const Curve& curve, const Panel& panel, double scale) {
  const double bottom = panel.bottom();
  bool first = true;
  double before = 0;
  follow(curve, [&](double x, double low, double high, double last) {
    if (first) canvas.move_to(x, bottom - last * scale);
    else canvas.line_to(x, bottom - before * scale);
    first = false;
    if (low < std::min(before, last)) canvas.line_to(x, bottom - low * scale);
    if (high > std::max(before, last)) canvas.line_to(x, bottom - high * scale);
    canvas.line_to(x, bottom - last * scale);
    before = last;
  });
  if (!first) canvas.line_to(panel.right, bottom - before * scale);
}

}  // namespace

double highest(const std::vector<Curve>& curves) {
  double result = 0;
  for (const auto& curve : curves)
    for (const double value : curve.value) result = std::max(result, value);
  return result;
}

void draw_panel(Canvas& canvas, const Panel& panel, const std::string& name, const std::string& unit,
                const Scale& scale, double margin, const std::vector<Curve>& curves) {
  const double most = std::max(highest(curves), scale.ticks.back()), points = panel.height / most;
  canvas.colour(rule);
  for (const double tick : scale.ticks)
    canvas.line(panel.left, panel.bottom() - tick * points, panel.right, panel.bottom() - tick * points);
  canvas.stroke(0.4);
  canvas.colour(black);
  canvas.text(name, margin, panel.top + Canvas::small - 1);
  canvas.text(unit, margin, panel.top + 2 * Canvas::small + 1);
  for (const double tick : scale.ticks)
    canvas.text(scale.label(tick), panel.left - 4, panel.bottom() - tick * points + 2.5, Align::Right);
  // The first line is the widest, so that coinciding curves are all visible.
  const double thinner = std::min(0.5, 1.8 / static_cast<double>(curves.size()));
  const double widest = 0.8 + thinner * static_cast<double>(curves.size() - 1);
  double y = panel.top + Canvas::small - 1;
  for (const auto& curve : curves) {
    canvas.colour(curve.colour);
    if (curve.name.empty() && !curve.x.empty()) {
      trace_line(canvas, curve, panel, points);
      canvas.line_to(panel.right, panel.bottom());
      canvas.line_to(curve.x.front(), panel.bottom());
      canvas.fill();
    } else {
      trace_line(canvas, curve, panel, points);
      canvas.stroke(widest - thinner * static_cast<double>(&curve - curves.data()));
      canvas.line(panel.right + 4, y - 2.5, panel.right + 12, y - 2.5);
      canvas.stroke(1.6);
      canvas.colour(black);
      canvas.text(curve.name, panel.right + 14.5, y);
      y += Canvas::small + 1;
    }
  }
  canvas.colour(grey);
  canvas.line(panel.left, panel.bottom(), panel.right, panel.bottom());
  canvas.stroke(0.6);
}

namespace {

/// Colours from dark violet to light green. Their lightness differs, too.
std::uint32_t node_colour(std::size_t i, std::size_t count) {
  constexpr std::uint32_t ramp[] = {0x440154, 0x3b528b, 0x21908c, 0x5dc863, 0xb5c918};
  const double at = count < 2 ? 1 : 4.0 * static_cast<double>(i) / static_cast<double>(count - 1);
  const auto from = std::min<std::size_t>(static_cast<std::size_t>(at), 3);
  const double part = at - static_cast<double>(from);
  std::uint32_t mixed = 0;
  for (const int shift : {0, 8, 16}) {
    const double a = (ramp[from] >> shift) & 0xff, b = (ramp[from + 1] >> shift) & 0xff;
    mixed |= static_cast<std::uint32_t>(std::lround(a + part * (b - a))) << shift;
  }
  return mixed;
}

}  // namespace

std::vector<const MemoryUse*> memory_shown(const Run& run) {
  std::vector<const MemoryUse*> gpus, hosts;
  for (const auto& use : run.memory) {
    if (use.time.empty() || use.node < 0 || use.node >= static_cast<int>(run.nodes.size())) continue;
    (run.nodes[static_cast<std::size_t>(use.node)].kind == Kind::Gpu ? gpus : hosts).push_back(&use);
  }
  return gpus.empty() ? hosts : gpus;
}

void Chart::draw_panels(Canvas& canvas) const {
  if (memory_.height > 0) {
    std::vector<Curve> curves;
    const auto shown = memory_shown(run_.run);
    for (const auto* use : shown) {
      auto& curve = curves.emplace_back();
      curve.name = run_.run.nodes[static_cast<std::size_t>(use->node)].name;
      curve.colour = node_colour(curves.size() - 1, shown.size());
      for (const double time : use->time) curve.x.push_back(x(time));
      curve.value = use->bytes;
    }
    const auto scale = byte_scale(std::max(highest(curves), 1.0), 3);
    draw_panel(canvas, memory_, "memory", std::string("[") + scale.unit + "]", scale, margin, curves);
  }
  const auto counts = [&](const Panel& panel, const Series& series, const char* name) {
    if (panel.height <= 0) return;
    Curve curve{{}, 0x8a8a8a, {}, {series.count.begin(), series.count.end()}};
    for (const double time : series.time) curve.x.push_back(x(time));
    draw_panel(canvas, panel, name, "tasks", count_scale(std::max(highest({curve}), 1.0), 2), margin, {curve});
  };
  counts(ready_, run_.analysis.ready, "ready");
  counts(running_, run_.analysis.running, "running");
}

}  // namespace tessera::trace
