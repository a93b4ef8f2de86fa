// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "draw_canvas.hpp"
#include "draw_scale.hpp"
#include "trace/run.hpp"

namespace tessera::trace {

/// A value over time, from each time on until the next.
struct Curve {
  std::string name;  ///< empty: of the panel's only one
  std::uint32_t colour = 0;
  std::vector<double> x, value;  ///< points from the left; as the panel's scale has them
};

/// A place for curves: from `left` to `right`, on a common axis.
struct Panel {
  double top = 0, height = 0, left = 0, right = 0;
  double bottom() const { return top + height; }
};

/// Those of the GPUs; on a machine without any, that of the host.
std::vector<const MemoryUse*> memory_shown(const Run& run);

double highest(const std::vector<Curve>& curves);

/// The panel's name, unit and ticks left of it, the curves' names right of it. A curve alone is filled.
void draw_panel(Canvas& canvas, const Panel& panel, const std::string& name, const std::string& unit,
                const Scale& scale, double margin, const std::vector<Curve>& curves);

}  // namespace tessera::trace
