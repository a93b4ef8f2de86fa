// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "simulate/outcome.hpp"
#include "simulate/platforms.hpp"
#include "simulate/simulate_options.hpp"

namespace tessera::simulate {

/// Makes copies between host and GPU go through staging buffers from now on. These buffers are contiguous, so the
/// columns of tiles no longer matter. Each copy also takes the time in which one core fills or empties the first
/// buffer, because no transfer of the tile overlaps with that.
void stage_copies();

/// Turns this process into the simulation of one call and writes its Outcome as JSON to `result`. StarPU and SimGrid
/// can simulate only one machine per process.
[[noreturn]] void become_simulation(const Options& options, const Run& run, const Scratch& scratch, int result);

/// Simulates every run in its own process, several at a time. Calls `done` for each outcome in the order of the runs,
/// as early as possible. If `done` throws, the remaining simulations are stopped.
void run_all(const Options& options, const std::vector<Run>& runs, const Scratch& scratch,
             const std::function<void(const Run&, const Outcome&)>& done);

/// Replaces this process by the program of `--program`, which writes its Outcome as JSON to `result`.
[[noreturn]] void become_program(const Options& options, const Run& run, const Scratch& scratch, int result);

}  // namespace tessera::simulate
