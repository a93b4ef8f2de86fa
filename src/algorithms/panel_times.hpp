// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <tessera/types.hpp>

#include "devices/gpu.hpp"
#include "machine/machine.hpp"
#include "panel_tuning.hpp"

namespace tessera::algorithms {

/// Estimates how long the factorization of a panel and simultaneous updates take.
/// @tparam Ops  PanelOps or QrOps
template <typename Ops>
class PanelTimes {
 public:
  explicit PanelTimes(const Ops& to)
      : PanelTimes(to, to.are_owned() && to.machine().has_cuda() && device::gpu::factorizes_beside_products(),
                   to.machine().gpu_memory) {}
  /// @param beside  whether GPUs factorize beside products
  /// @param memory  of a GPU [bytes]; 0: unknown
  PanelTimes(const Ops& to, bool beside, double memory) : to_(to), memory_(memory), beside_(beside) {}

  /// The panels before `end` that panel k updates on the GPU of panel `next` while that GPU factorizes panel `next`.
  /// Their number is limited by the duration of the factorization (see lanes.hpp) and by a part of the GPU's
  /// memory.
  std::vector<Index> panels_beside(Index k, Index next, Index end) const {
    std::vector<Index> panels;
    if (!beside_) return panels;
    const double seconds = seconds_of(next), memory = tuning::memory_beside * memory_;
    double filled = 0, bytes = 2 * to_.bytes(k);
    for (Index j = next + to_.turn(); j < end && filled < seconds; j += to_.turn()) {
      const double update = std::max(to_.update_flops(k, j) / tuning::rate_beside, tuning::shortest_update);
      bytes += to_.bytes(j);
      if ((filled > 0 && filled + update / 2 > seconds) || (memory > 0 && bytes > memory)) break;
      filled += update;
      panels.push_back(j);
    }
    return panels;
  }
  /// How long a GPU takes to factorize panel k while it also computes products [s]. Panels of QR take longer, so that
  /// their updates end first.
  double seconds_of(Index k) const {
    const double bytes = to_.rows_from(k) * to_.element_size();
    return to_.columns(k) * (tuning::seconds_of_column + tuning::seconds_of_byte * bytes);
  }
  /// Whether the updates by panel k on the GPU of panel `next` take longer than the factorization of that panel. If
  /// not, other GPUs wait for it, and it should be alone.
  bool updates_take_longer(Index k, Index next) const {
    double flops = 0;
    for (Index j = next + to_.turn(); j < to_.panels(); j += to_.turn()) flops += to_.update_flops(k, j);
    return flops > tuning::rate_beside * seconds_of(next);
  }
  /// The number of panels that have arrived after a given time [s] if each GPU has its own link.
  Index arrived(double seconds) const {
    return std::min(to_.panels(), static_cast<Index>(seconds * tuning::link_rate / to_.bytes(0)) * to_.turn());
  }

 private:
  const Ops& to_;
  double memory_;
  bool beside_;
};

}  // namespace tessera::algorithms
