// SPDX-License-Identifier: BSD-3-Clause
#include "trace/output/draw_panel.hpp"

#include <algorithm>

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

}  // namespace tessera::trace
