// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

#include "devices/simulated/machine_description.hpp"
#include "workload/routine.hpp"

namespace tessera::simulate {

/// Validated command line arguments.
struct Options : bench::ChosenProblems {
  std::filesystem::path platform;
  device::simulated::Machine machine;
  std::vector<int> gpus;
  int cpus = -1;   ///< -1: see runs_of
  Index tile = 0;  ///< 0: the library's choice
  std::vector<std::string> policies;
  std::vector<Placement> placements;  ///< empty: the placement that suits the policy
  Index slices = 0;                   ///< gemm in this number of slices of A and of B; 0: in tiles
  Index beside = 0;                   ///< order of the problems that a concurrent loop computes; 0: no such loop
  int gpu_memory = 0;                 ///< MiB of each GPU; 0: all of its memory
  int jobs = 1;                       ///< number of concurrent simulations
  bool brief = false;
  bool explain = false;              ///< explain the plans instead of simulating
  bool sweep = false;                ///< compare each call with the other ways to run it
  std::vector<std::string> program;  ///< a program to simulate, and its arguments; empty: calls of the library
  std::string json;                  ///< "": none, "-": standard output
  std::string trace;                 ///< folder for the recordings; "": none
  std::string dump;                  ///< folder for lists of tasks; "": none
};

/// One simulation.
struct Run {
  const bench::Routine* routine;  ///< null: a program is simulated
  bench::Problem problem;
  int gpus, cpus;
  std::string policy;
  Placement placement;
  std::filesystem::path trace;  ///< "": none
  std::filesystem::path dump;   ///< the file for its tasks; "": none
  Index tile = 0;               ///< 0: the library's choice
};

/// @return  empty if --help was given, after printing the help
/// @throws BadArgument
std::optional<Options> parse_options(int argc, char** argv);

/// All simulations in the order of the report.
std::vector<Run> runs_of(const Options& options);

}  // namespace tessera::simulate
