// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "shared/activity.hpp"
#include "simulate/options.hpp"

namespace tessera::simulate {

/// The work of one GPU during a call [s].
struct GpuUse {
  double busy = 0;      ///< time in tasks
  double last_end = 0;  ///< end of its last task, from the start of the call
};

/// The result of a simulation.
struct Outcome {
  std::string error;          ///< "": none
  bool bad_argument = false;  ///< the error is caused by the arguments
  double seconds = 0;
  Index tile_m = 0, tile_n = 0, tile_k = 0;
  std::string policy, placement;
  std::vector<GpuUse> gpus;
  tools::Activity activity;
};

void to_json(nlohmann::json& json, const Outcome& outcome);
void from_json(const nlohmann::json& json, Outcome& outcome);

/// The folder with the machine's files, which the simulation may also write to.
struct Scratch {
  std::filesystem::path folder;
  static constexpr const char* host = "simulated";
};

/// From now on, copies between host and GPU go through staging buffers. The columns of tiles do not count, since the
/// buffers are contiguous. No transfer of a tile hides the time in which one core fills or empties the first buffer.
void stage_copies();

/// Turns this process into the simulation of one call and writes its Outcome as JSON to `result`. StarPU and SimGrid
/// can simulate only one machine per process.
[[noreturn]] void become_simulation(const Options& options, const Run& run, const Scratch& scratch, int result);

}  // namespace tessera::simulate
