// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "shared/activity.hpp"

namespace tessera::simulate {

/// The work of one GPU during a simulation [s].
struct GpuUse {
  double busy = 0;      ///< time in tasks
  double last_end = 0;  ///< end of its last task, from the start of the call
  Index tasks = 0;      ///< tasks that it ran
};

/// The result of a simulation.
struct Outcome {
  std::string error;          ///< "": none
  std::string explanation;    ///< explanation of the plan, for --explain
  bool bad_argument = false;  ///< the error is caused by the arguments
  double seconds = 0;
  Index tile_m = 0, tile_n = 0, tile_k = 0;
  double predicted = 0;  ///< the plan's prediction [s]; 0: no prediction
  std::string policy, placement;
  std::vector<GpuUse> gpus;
  int cpus = 0;          ///< CPU workers
  Index core_tasks = 0;  ///< total number of tasks that they ran
  tools::Activity activity;

  int cores() const { return activity.workers - activity.gpus; }  ///< CPU workers that compute tiles
};

void to_json(nlohmann::json& json, const Outcome& outcome);
void from_json(const nlohmann::json& json, Outcome& outcome);

/// The fraction of the time in which a GPU ran tasks.
double computing_share(const GpuUse& gpu, double seconds);
/// The average over all GPUs. @pre there is at least one
double average_computing(const Outcome& outcome);
/// The time between the first GPU's last end and the last GPU's, as a fraction of the total time.
double imbalance(const Outcome& outcome);

}  // namespace tessera::simulate
