// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "draw_canvas.hpp"

namespace tessera::trace {

/// A part of a row, from left to right in points.
struct Span {
  double begin = 0, end = 0;
  std::uint32_t colour = 0;
};

struct Bar {
  Box box;
  std::uint32_t colour = 0;
};

/// The rectangles of a row. Each span is one, if it is no narrower than `narrow`, or alone where it is. All others
/// share columns of that width, which show, by height, what part of it each colour has: so also a hundred thousand
/// tasks show how busy their workers were.
std::vector<Bar> bars(const std::vector<Span>& spans, double top, double height, double narrow);

}  // namespace tessera::trace
