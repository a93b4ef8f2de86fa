// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/output/draw_canvas.hpp"
#include "trace/output/draw_scale.hpp"
#include "trace/run.hpp"

namespace tessera::trace {

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
