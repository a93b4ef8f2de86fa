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

/// Sets what StarPU reads: the files of the machine, and the memory that may be used.
void put_environment(const Options& options, const Scratch& scratch);

/// From now on, copies between host and GPU go through staging buffers. The columns of tiles do not count, since the
/// buffers are contiguous. No transfer of a tile hides the time in which one core fills or empties the first buffer.
void stage_copies();

/// Turns this process into the simulation of one call and writes its Outcome as JSON to `result`. StarPU and SimGrid
/// can simulate only one machine per process.
[[noreturn]] void become_simulation(const Options& options, const Run& run, const Scratch& scratch, int result);

}  // namespace tessera::simulate
