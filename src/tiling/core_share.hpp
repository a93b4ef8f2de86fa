// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "machine_model.hpp"

namespace tessera::detail {

/// The total rate of all cores, relative to that of all GPUs; 0: unknown.
double relative_rate_of_cores(const MachineRates& rates, int cores, int gpus);

/// The relative rate above which cores compute tiles. Below it, the gain is smaller than the error of the predictions.
inline constexpr double least_rate_of_cores = 0.03;

/// Whether cores should compute tiles alongside the GPUs.
inline bool cores_are_worth_it(const MachineRates& rates, int cores, int gpus) {
  return relative_rate_of_cores(rates, cores, gpus) >= least_rate_of_cores;
}

/// Whether cores finish before the GPUs even if they are slower than predicted.
/// @param core, gpus  predicted seconds; for the GPUs as if all were like the first
bool cores_end_first(const MachineModel& machine, double core, double gpus);

/// The minimum gain for which cores compute a part of a result. It is needed because predictions are inexact, and
/// because cores change the choice of tiles.
struct Advantage {
  double gain = 1.05;  ///< time without cores, relative to the time with them
  double saving = 0;   ///< also required: the minimum number of seconds saved

  /// Whether the gain is larger than this, given the predicted times with and without cores [s].
  bool is_reached(double with, double without) const noexcept {
    return gain * with < without && with + saving < without;
  }
};

/// The minimum advantage for trmm and trsm.
Advantage least_advantage_in_columns(int gpus);

/// The part of a result that cores compute.
struct CoreShare {
  Index tiles = 0;     ///< total number of tiles of all cores; each core computes the same number
  double seconds = 0;  ///< time until GPUs and cores have finished the result
};

/// The share of the cores for which the result is finished first. Each core computes whole tiles, and all cores are
/// expected to finish before the GPUs.
/// @param gpus   time of the GPUs without cores [s]
/// @param tiles  number of tiles of the result
/// @param tile   time that a core needs for one tile [s]
CoreShare share_of_cores(const MachineModel& machine, double gpus, Index tiles, double tile);

}  // namespace tessera::detail
