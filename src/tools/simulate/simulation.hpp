// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include "simulate/options.hpp"
#include "simulate/outcome.hpp"

namespace tessera::simulate {

/// The folder of the machine's files. The simulation may write there, too.
struct Scratch {
  std::filesystem::path folder;
  static constexpr const char* host = "simulated";
};

/// Sets the variables that StarPU reads: the files of the machine, and the memory limits.
void put_environment(const Options& options, const Scratch& scratch);

/// Makes copies between host and GPU go through staging buffers from now on. These buffers are contiguous, so the
/// columns of tiles no longer matter. Each copy also takes the time in which one core fills or empties the first
/// buffer, because no transfer of the tile overlaps with that.
void stage_copies();

/// Turns this process into the simulation of one call and writes its Outcome as JSON to `result`. StarPU and SimGrid
/// can simulate only one machine per process.
[[noreturn]] void become_simulation(const Options& options, const Run& run, const Scratch& scratch, int result);

}  // namespace tessera::simulate
