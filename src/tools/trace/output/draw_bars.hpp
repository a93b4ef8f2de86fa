// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "trace/output/draw_canvas.hpp"

namespace tessera::trace {

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

}  // namespace tessera::trace
