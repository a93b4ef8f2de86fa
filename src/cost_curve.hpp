// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

namespace tessera::detail {

/// How long something takes as a function of its amount, from known points: a tile operation of its flops, a copy of
/// its bytes.
class CostCurve {
 public:
  struct Point {
    double amount;
    double seconds;
  };
  CostCurve() = default;
  /// @param points  in order of amount
  explicit CostCurve(std::vector<Point> points) : points_(std::move(points)) {}

  bool empty() const noexcept { return points_.empty(); }
  const std::vector<Point>& points() const noexcept { return points_; }
  /// Interpolated between the points, at the first or last point's rate outside them.
  double seconds(double amount) const;
  /// The best rate among the points [1/s].
  double best_rate() const;

 private:
  std::vector<Point> points_;
};

}  // namespace tessera::detail
