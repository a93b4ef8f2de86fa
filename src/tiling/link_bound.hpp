// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/types.hpp>

#include "machine_model.hpp"

namespace tessera::detail {

/// Whether a GPU's link can feed a block of C (m×n) that stays on the GPU while products with a common dimension k are
/// added to it. The bound of Wu and JaJa: 4 (1/m + 1/n + 1/k) F < BW in double precision, where F is the rate of the
/// kernel [flop/s] and BW that of the link [bytes/s]. If a single dimension exceeds the bound on its own, larger values
/// of the others do not help.
struct LinkBound {
  double sum = 0;    ///< 1/m + 1/n + 1/k
  double least = 0;  ///< the sum must be below 1/least
  Index smallest = 0;
  bool link_feeds() const noexcept { return sum * least < 1; }
  /// The result as a clause for tessera-info.
  std::string text() const;
};

/// @param rate  rate of the kernel [flop/s]
/// @pre m, n, k ≥ 1
LinkBound link_bound(const MachineModel& machine, double rate, Index m, Index n, Index k);

}  // namespace tessera::detail
