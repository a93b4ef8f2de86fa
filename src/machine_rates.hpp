// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/types.hpp>

#include "codelets/codelet.hpp"

namespace tessera::detail {

class Session;

/// How long a tile operation takes on one worker, from measured products, as a function of its flops.
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

/// What Tessera knows of this machine when it chooses tiles and predicts costs, for one type.
struct MachineRates {
  KernelCurve cpu;  ///< one core
  KernelCurve gpu;  ///< one GPU; empty where there is none
  double link = 0;  ///< host to one GPU [bytes/s]
};

/// Measured at the first call for each type. CPU: a few milliseconds, each time the process starts; GPU: some tens of
/// milliseconds, then read from Tessera's cache.
template <Scalar T>
const MachineRates& machine_rates(const Session& session);

/// For the performance models of the codelets: from the rates of the type, 0 if they have not been measured.
double expected_seconds(const codelets::Work& work, bool gpu);

}  // namespace tessera::detail
