// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

#include "workload/found_machine.hpp"
#include "workload/routine.hpp"

namespace tessera::bench {

/// Command line arguments, validated as far as possible without knowing the machine.
struct Options : ChosenProblems {
  std::vector<int> gpus{-1};  ///< -1: all
  int cpus = -1;              ///< -1: all
  Index tile = 0;             ///< 0: the library chooses
  std::vector<std::string> policies;
  std::vector<Placement> placements;
  bool against_cublas = false, against_cublasxt = false, against_cusolver = false, against_openblas = false;
  std::vector<Index> xt_blocks;
  int repeat = 5, warmup = 1;
  bool check = false, demo = false, statistics = false;
  bool sweep = false;        ///< compare each call with the other ways to run it
  int overhead = 0;          ///< if not 0, measures this number of empty tasks instead of a routine
  bool host_copies = false;  ///< measure copies in host memory instead of a routine
  std::string json;          ///< "": no file, "-": standard output
  std::string trace;         ///< folder for the trace of one more call; "": no trace
};

/// @return  empty if --help was given, after printing the help
/// @throws BadArgument
std::optional<Options> parse_options(int argc, char** argv);

/// Replaces every setting that was left to the environment or to the machine by its value.
/// @throws BadArgument if the machine lacks what was asked for
void resolve(Options& options, const Machine& machine);

}  // namespace tessera::bench
