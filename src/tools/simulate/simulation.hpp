// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "shared/activity.hpp"
#include "simulate/options.hpp"

namespace tessera::simulate {

/// What one GPU did during a call. Seconds.
struct GpuUse {
  double busy = 0;      ///< in tasks
  double last_end = 0;  ///< of its last task, after the call began
};

/// What a simulation came to.
struct Outcome {
  std::string error;          ///< "": none
  bool bad_argument = false;  ///< the error is in what was asked for
  double seconds = 0;
  Index tile_m = 0, tile_n = 0, tile_k = 0;
  std::string policy, placement;
  std::vector<GpuUse> gpus;
  tools::Activity activity;
};

void to_json(nlohmann::json& json, const Outcome& outcome);
void from_json(const nlohmann::json& json, Outcome& outcome);

/// Where StarPU finds the machine, and where it may write.
struct Scratch {
  std::filesystem::path folder;
  static constexpr const char* host = "simulated";
};

/// Turns this process into the simulation of one call, and writes its Outcome as JSON into `result`. StarPU and SimGrid
/// simulate one machine in a process, once.
[[noreturn]] void become_simulation(const Options& options, const Run& run, const Scratch& scratch, int result);

}  // namespace tessera::simulate
