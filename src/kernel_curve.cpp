// SPDX-License-Identifier: BSD-3-Clause
#include "kernel_curve.hpp"

#include <algorithm>

namespace tessera::detail {

double KernelCurve::seconds(double flops) const {
  if (points_.empty()) return 0;
  if (flops <= points_.front().flops) return points_.front().seconds * flops / points_.front().flops;
  for (std::size_t i = 1; i < points_.size(); i++) {
    const auto &left = points_[i - 1], &right = points_[i];
    if (flops > right.flops) continue;
    const double weight = (flops - left.flops) / (right.flops - left.flops);
    return left.seconds + weight * (right.seconds - left.seconds);
  }
  return points_.back().seconds * flops / points_.back().flops;
}

double KernelCurve::best_rate() const {
  double best = 0;
  for (const auto& point : points_) best = std::max(best, point.flops / point.seconds);
  return best;
}

}  // namespace tessera::detail
