// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::tile {

/// Assigns each panel of a stored triangle to the GPU that loads it from host memory, such that all GPUs load about the
/// same number of elements. The largest panel is assigned first, to the GPU with the least load ("longest processing
/// time first", Graham, 1969).
class TriangleOwners {
 public:
  /// @param order  order of the triangle, at least 1
  /// @param width  columns per panel; the last panel may have fewer
  TriangleOwners(Uplo uplo, Index order, Index width, Index gpus) {
    std::vector<double> loads(static_cast<std::size_t>(gpus)), elements;
    for (Index first = 0; first < order; first += width) {
      const Index columns = std::min(width, order - first);
      const double longest = static_cast<double>(uplo == Uplo::Lower ? order - first : first + columns);
      elements.push_back(static_cast<double>(columns) * (longest - static_cast<double>(columns - 1) / 2));
    }
    std::vector<std::size_t> panels(elements.size());
    std::iota(panels.begin(), panels.end(), std::size_t{0});
    std::ranges::stable_sort(panels, std::ranges::greater{}, [&](std::size_t panel) { return elements[panel]; });
    owners_.resize(panels.size());
    for (const std::size_t panel : panels) {
      const auto least = std::ranges::min_element(loads);
      *least += elements[panel];
      owners_[panel] = static_cast<int>(least - loads.begin());
    }
  }

  int of(Index panel) const { return owners_[static_cast<std::size_t>(panel)]; }

 private:
  std::vector<int> owners_;
};

}  // namespace tessera::tile
