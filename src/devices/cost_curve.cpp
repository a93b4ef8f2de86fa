// SPDX-License-Identifier: BSD-3-Clause
#include "cost_curve.hpp"

#include <algorithm>

namespace tessera::device {

double CostCurve::seconds(double amount) const {
  if (points_.empty()) return 0;
  if (amount <= points_.front().amount) return points_.front().seconds * amount / points_.front().amount;
  for (std::size_t i = 1; i < points_.size(); i++) {
    const auto &left = points_[i - 1], &right = points_[i];
    if (amount > right.amount) continue;
    const double weight = (amount - left.amount) / (right.amount - left.amount);
    return left.seconds + weight * (right.seconds - left.seconds);
  }
  return points_.back().seconds * amount / points_.back().amount;
}

double CostCurve::best_rate() const {
  double best = 0;
  for (const auto& point : points_) best = std::max(best, point.amount / point.seconds);
  return best;
}

}  // namespace tessera::device
