// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

namespace tessera::device {

/// Time as a function of an amount, interpolated between known points. The amount is flops for a tile operation, and
/// bytes for a copy.
class CostCurve {
 public:
  struct Point {
    double amount;  ///< flops or bytes
    double seconds;
  };
  CostCurve() = default;
  /// @param points  in order of amount
  explicit CostCurve(std::vector<Point> points) : points_(std::move(points)) {}

  bool empty() const noexcept { return points_.empty(); }
  const std::vector<Point>& points() const noexcept { return points_; }
  /// Interpolates linearly between the points. Outside their range, the rate of the first or last point applies.
  /// Returns 0 if there are no points.
  double seconds(double amount) const;
  /// The best rate of all points [amount per second].
  double best_rate() const;

 private:
  std::vector<Point> points_;
};

}  // namespace tessera::device
