// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

namespace tessera::detail {

/// How long a tile operation takes on one worker, from known products, as a function of its flops.
class KernelCurve {
 public:
  struct Point {
    double flops;
    double seconds;
  };
  KernelCurve() = default;
  /// @param points  in order of flops
  explicit KernelCurve(std::vector<Point> points) : points_(std::move(points)) {}

  bool empty() const noexcept { return points_.empty(); }
  const std::vector<Point>& points() const noexcept { return points_; }
  /// Interpolated between the points, at the first or last point's rate outside them.
  double seconds(double flops) const;
  /// The best rate among the points [flop/s].
  double best_rate() const;

 private:
  std::vector<Point> points_;
};

}  // namespace tessera::detail
