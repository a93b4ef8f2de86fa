// SPDX-License-Identifier: BSD-3-Clause
#include "core_share.hpp"

namespace tessera::detail {

namespace {

/// The factor by which a core may be slower than predicted. Without this margin, cores would more often finish last.
constexpr double margin = 1.1;

}  // namespace

double relative_rate_of_cores(const MachineRates& rates, int cores, int gpus) {
  if (gpus == 0 || rates.gpu.empty() || rates.cpu.empty() || rates.others <= 0) return 0;
  return cores * rates.cpu.best_rate() / (gpus * rates.others * rates.gpu.best_rate());
}

bool cores_end_first(const MachineModel& machine, double core, double gpus) {
  return margin * core <= gpus / machine.rates.others;
}

Advantage least_advantage_in_columns(int gpus) {
  // The minimum gain exceeds the error of the predictions. On several GPUs the error is larger, because the predictions
  // ignore that the GPUs wait for each other.
  return {gpus > 1 ? 1.1 : Advantage{}.gain, 100e-6};
}

CoreShare share_of_cores(const MachineModel& machine, double gpus, Index tiles, double tile) {
  CoreShare best{0, gpus};
  const Index cores = machine.sharing_cores;
  for (Index share = cores; share > 0 && share < tiles; share += cores) {
    const double left = gpus * static_cast<double>(tiles - share) / static_cast<double>(tiles);
    const Index each = share / cores;
    if (!cores_end_first(machine, tile * static_cast<double>(each), left)) break;
    best = {share, left};
  }
  return best;
}

}  // namespace tessera::detail
