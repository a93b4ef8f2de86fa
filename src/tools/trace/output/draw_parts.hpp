// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/output/draw_canvas.hpp"
#include "trace/output/outputs.hpp"
#include "trace/recorded_run.hpp"

namespace tessera::trace {

/// A unit for readable numbers, with round positions for ticks.
struct Scale {
  const char* unit = "";
  double factor = 1;          ///< a value in this unit is value / factor
  double step = 1;            ///< between ticks, as a value
  std::vector<double> ticks;  ///< values, starting at 0

  std::string label(double value) const {
    const double in_unit = value / factor, in_steps = step / factor;
    const int digits = in_steps >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(in_steps) - 1e-9));
    return fmt::format("{:.{}f}", in_unit, digits);
  }
};

/// Places ticks at 1, 2 or 5 times a power of ten, at most `most` of them after 0.
inline Scale with_ticks(Scale scale, double end, int most) {
  const double least = end / scale.factor / most, power = std::pow(10, std::floor(std::log10(least)));
  for (const double digit : {1.0, 2.0, 5.0, 10.0}) {
    scale.step = digit * power * scale.factor;
    if (digit * power >= least * (1 - 1e-9)) break;
  }
  for (int i = 0; i * scale.step <= end * (1 + 1e-9); ++i) scale.ticks.push_back(i * scale.step);
  return scale;
}

/// @pre  seconds > 0
inline Scale time_scale(double seconds, int most) {
  return with_ticks(seconds < 1e-3 ? Scale{"µs", 1e-6, 1, {}}
                    : seconds < 1  ? Scale{"ms", 1e-3, 1, {}}
                                   : Scale{"s", 1, 1, {}},
                    seconds, most);
}

/// @pre  bytes > 0
inline Scale byte_scale(double bytes, int most) {
  return with_ticks(bytes < 1e6   ? Scale{"kB", 1e3, 1, {}}
                    : bytes < 1e9 ? Scale{"MB", 1e6, 1, {}}
                                  : Scale{"GB", 1e9, 1, {}},
                    bytes, most);
}

/// Ticks at whole numbers only.
/// @pre  count > 0
inline Scale count_scale(double count, int most) {
  auto scale = with_ticks(Scale{}, count, most);
  return scale.step < 1 ? with_ticks(Scale{}, count, 1) : scale;
}

/// Three digits and a unit: "61.2 ms".
inline std::string readable(double value, const Scale& scale) {
  const double in_unit = value / scale.factor;
  return fmt::format("{:.{}f} {}", in_unit, in_unit >= 99.95 ? 0 : in_unit >= 9.995 ? 1 : 2, scale.unit);
}
inline std::string readable_time(double seconds) { return readable(seconds, time_scale(std::max(seconds, 1e-9), 1)); }
inline std::string readable_bytes(double bytes) { return readable(bytes, byte_scale(std::max(bytes, 1.0), 1)); }

/// A part of a row; horizontal extent in points.
struct Span {
  double begin = 0, end = 0;
  std::uint32_t colour = 0;
};

struct Bar {
  Box box;
  std::uint32_t colour = 0;
};

/// The rectangles of a row. A span becomes one rectangle if it is at least `narrow` wide or has no close neighbour.
/// Other spans share columns of that width, in which each colour has a height in proportion to its time. The
/// utilisation of workers thus stays visible even with a hundred thousand tasks.
std::vector<Bar> bars(const std::vector<Span>& spans, double top, double height, double narrow);

/// The colour of an operand's transfers, from Okabe and Ito's palette for colour-blind readers.
std::uint32_t operand_colour(char operand);

/// A row of the chart: a worker, or one or more links.
struct Row {
  std::string name;
  double top = 0, height = 0;
  double share = never;                          ///< fraction of the time spent computing; never: not shown
  std::string amount;                            ///< shown instead of the share
  std::vector<std::pair<double, double>> times;  ///< seconds
  std::vector<std::uint32_t> colours;            ///< one per time
  int worker = none;                             ///< none: a link
};

/// One row per worker that is shown.
std::vector<Row> worker_rows(const Explained& explained);

/// One row per link that carried data: from the host, to the host, then between GPUs. If there are many links between
/// GPUs, those to the same GPU share a row.
std::vector<Row> link_rows(const Explained& explained);

/// A piecewise constant function of time: each value holds until the next time.
struct Curve {
  std::string name;  ///< empty: the only curve of the panel
  std::uint32_t colour = 0;
  std::vector<double> x, value;  ///< points from the left; values on the panel's scale
};

/// The area of one or more curves, from `left` to `right` on a common axis.
struct Panel {
  double top = 0, height = 0, left = 0, right = 0;
  double bottom() const { return top + height; }
};

/// The memory of the GPUs; without GPUs, that of the host.
std::vector<const MemoryUse*> memory_shown(const Run& run);

double highest(const std::vector<Curve>& curves);

/// Draws the curves, with the panel's name, unit and ticks to the left and the curves' names to the right. A single
/// curve is filled.
void draw_panel(Canvas& canvas, const Panel& panel, const std::string& name, const std::string& unit,
                const Scale& scale, double margin, const std::vector<Curve>& curves);

}  // namespace tessera::trace
