// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

#include "simulation/machine.hpp"
#include "workload/chosen_problems.hpp"

namespace tessera::simulate {

/// The command line, understood.
struct Options : bench::ChosenProblems {
  std::filesystem::path platform;
  simulation::Machine machine;
  std::vector<int> gpus;
  int cpus = -1;   ///< -1: none where there are GPUs, else all cores
  Index tile = 0;  ///< 0: the library's choice
  std::vector<std::string> policies;
  std::vector<Placement> placements;  ///< empty: what suits the policy
  int gpu_memory = 0;                 ///< MiB of each GPU; 0: all that it has
  int jobs = 1;                       ///< simulations at a time
  bool brief = false;
  std::string json;   ///< "": none, "-": standard output
  std::string trace;  ///< folder for what is recorded of it; "": nothing is
};

/// One simulation.
struct Run {
  const bench::Routine* routine;
  bench::Problem problem;
  int gpus, cpus;
  std::string policy;
  Placement placement;
  std::filesystem::path trace;  ///< "": none
};

/// @param platforms  the folder where machines are found by name
/// @return nothing if only help was asked for, which has then been printed
/// @throws BadArgument
std::optional<Options> parse_options(int argc, char** argv);

/// All the simulations that were asked for, in the order of the report.
std::vector<Run> runs_of(const Options& options);

}  // namespace tessera::simulate
