// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "machine_model.hpp"

namespace tessera::detail {

/// The rate of all cores together, relative to that of all GPUs; 0: not known.
double relative_rate_of_cores(const MachineRates& rates, int cores, int gpus);

/// The relative rate from which on cores compute tiles. With less, the gain is smaller than what predictions are wrong
/// by.
inline constexpr double least_rate_of_cores = 0.03;

/// Whether cores should compute tiles beside GPUs.
inline bool cores_are_worth_it(const MachineRates& rates, int cores, int gpus) {
  return relative_rate_of_cores(rates, cores, gpus) >= least_rate_of_cores;
}

/// Whether cores end before the GPUs even if they take longer than predicted.
/// @param core, gpus  predicted seconds; those of the GPUs as if all were like the first one
bool cores_end_first(const MachineModel& machine, double core, double gpus);

/// What cores must save before they compute a part of a result: predictions are not exact, and with cores the tiles
/// differ.
struct Advantage {
  double gain = 1.05;  ///< seconds without cores, relative to those with them
  double saving = 0;   ///< seconds, too

  /// Whether predicted seconds with and without cores differ by more.
  bool is_reached(double with, double without) const noexcept {
    return gain * with < without && with + saving < without;
  }
};

/// The advantage for trmm and trsm.
Advantage least_advantage_in_columns(int gpus);

/// What cores compute of a result beside GPUs.
struct CoreShare {
  Index tiles = 0;     ///< for all cores together: the same number for each
  double seconds = 0;  ///< until GPUs and cores have computed the result
};

/// The share of the cores with which a result is computed first. Each core computes whole tiles, and all are expected
/// to end before the GPUs.
/// @param gpus   how long the GPUs compute without cores [s]
/// @param tiles  of the result
/// @param tile   how long a core computes one of them [s]
CoreShare share_of_cores(const MachineModel& machine, double gpus, Index tiles, double tile);

}  // namespace tessera::detail
