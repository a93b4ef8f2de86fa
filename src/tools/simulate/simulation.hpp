// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "simulate/options.hpp"
#include "simulate/outcome.hpp"

namespace tessera::simulate {

/// The folder with the machine's files, which the simulation may also write to.
struct Scratch {
  std::filesystem::path folder;
  static constexpr const char* host = "simulated";
};

/// Sets the variables that StarPU reads: the files of the machine, and the memory limits.
void put_environment(const Options& options, const Scratch& scratch);

/// From now on, copies between host and GPU go through staging buffers. The columns of tiles do not matter then,
/// because the buffers are contiguous. Each copy also takes the time in which one core fills or empties the first
/// buffer, which no transfer of the tile hides.
void stage_copies();

/// Turns this process into the simulation of one call and writes its Outcome as JSON to `result`. StarPU and SimGrid
/// can simulate only one machine per process.
[[noreturn]] void become_simulation(const Options& options, const Run& run, const Scratch& scratch, int result);

}  // namespace tessera::simulate
