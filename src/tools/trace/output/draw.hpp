// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cairo.h>

#include "trace/output/draw_canvas.hpp"
#include "trace/output/draw_parts.hpp"
#include "trace/output/outputs.hpp"

namespace tessera::trace {

/// The numbers of rectangles drawn for tasks and for transfers. They are smaller than the numbers of tasks and
/// transfers if some of these were too narrow to be drawn one by one.
struct Drawn {
  std::size_t tasks = 0, transfers = 0;
};

/// The layout of a run's chart: as wide as two columns of a paper, as high as its rows require. From top to bottom:
/// title, legend, one row per worker, one row per link, memory over time, ready and running tasks over time, time axis.
class Chart {
 public:
  explicit Chart(const Explained& run);

  static constexpr double width = 180 / 25.4 * 72;  ///< points
  double height() const { return height_; }

  Drawn draw(cairo_t* cairo) const;

 private:
  static constexpr double margin = 4, line_height = 9;    // margin of the page; height of a line of text
  static constexpr double left = 74, right = width - 53;  // horizontal extent of the time axis

  int legend_lines() const;
  void draw_heading(Canvas& canvas) const;
  void draw_legend(Canvas& canvas) const;
  void draw_grid(Canvas& canvas) const;
  Drawn draw_bars(Canvas& canvas) const;
  void draw_names(Canvas& canvas, const std::vector<Row>& rows) const;
  void draw_path(Canvas& canvas) const;
  void draw_panels(Canvas& canvas) const;

  double x(double seconds) const;

  const Explained& run_;
  std::vector<Row> workers_, links_;
  std::vector<std::string> notes_;  ///< lines below the title
  double legend_top_ = 0, rows_top_ = 0, axis_top_ = 0, height_ = 0;
  Panel memory_, ready_, running_;
};

}  // namespace tessera::trace
