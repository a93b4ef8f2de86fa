// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <tessera/types.hpp>

#include "machine/gpu.hpp"
#include "machine/machine.hpp"

namespace tessera::algorithms {

/// Estimates how long the factorization of a panel and simultaneous updates take.
/// @tparam Ops  PanelOps or QrOps
template <typename Ops>
class PanelTimes {
 public:
  explicit PanelTimes(const Ops& to)
      : PanelTimes(to, to.are_owned() && to.machine().has_cuda() && gpu::factorizes_beside_products(),
                   to.machine().gpu_memory) {}
  /// @param beside  whether GPUs factorize beside products
  /// @param memory  of a GPU [bytes]; 0: unknown
  PanelTimes(const Ops& to, bool beside, double memory) : to_(to), memory_(memory), beside_(beside) {}

  /// The panels before `end` that panel k updates on the GPU of panel `next` while that GPU factorizes panel `next`.
  /// Their number is limited by the duration of the factorization on an H100 (see device_lanes.hpp) and by half of the
  /// GPU's memory. Measured times are not used, because the same call on the same GPUs must give the same result.
  std::vector<Index> panels_beside(Index k, Index next, Index end) const {
    constexpr double shortest = 1e-4;  // update [s], because of the time to launch its kernels
    constexpr double of_memory = 0.5;
    std::vector<Index> panels;
    if (!beside_) return panels;
    const double seconds = seconds_of(next), memory = of_memory * memory_;
    double filled = 0, bytes = 2 * to_.bytes(k);
    for (Index j = next + to_.turn(); j < end && filled < seconds; j += to_.turn()) {
      const double update = std::max(to_.update_flops(k, j) / rate_beside, shortest);
      bytes += to_.bytes(j);
      if ((filled > 0 && filled + update / 2 > seconds) || (memory > 0 && bytes > memory)) break;
      filled += update;
      panels.push_back(j);
    }
    return panels;
  }
  /// How long an H100 takes to factorize panel k while it also computes products [s]. Panels of QR take longer, so that
  /// their updates end first.
  double seconds_of(Index k) const {
    constexpr double of_column = 5e-6, of_byte = 1.6e-11;
    return to_.columns(k) * (of_column + of_byte * to_.rows_from(k) * to_.element_size());
  }
  /// Whether the updates by panel k on the GPU of panel `next` take longer than the factorization of that panel. If
  /// not, other GPUs wait for it, and it should be alone.
  bool updates_take_longer(Index k, Index next) const {
    double flops = 0;
    for (Index j = next + to_.turn(); j < to_.panels(); j += to_.turn()) flops += to_.update_flops(k, j);
    return flops > rate_beside * seconds_of(next);
  }
  /// The number of panels that have arrived after a given time [s] if each GPU has its own link.
  Index arrived(double seconds) const {
    constexpr double rate = 5e10;  // rate of the link of an H100 [bytes/s]
    return std::min(to_.panels(), static_cast<Index>(seconds * rate / to_.bytes(0)) * to_.turn());
  }

 private:
  static constexpr double rate_beside = 40e12;  ///< rate of products during a factorization [flop/s]

  const Ops& to_;
  double memory_;
  bool beside_;
};

}  // namespace tessera::algorithms
