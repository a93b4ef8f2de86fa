// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

#include "bench/machine.hpp"
#include "workload/chosen_problems.hpp"

namespace tessera::bench {

/// The command line, understood and found to be possible, but for what only the machine knows.
struct Options : ChosenProblems {
  std::vector<int> gpus{-1};  ///< -1: all
  int cpus = -1;              ///< -1: all
  Index tile = 0;             ///< 0: the library's choice
  std::vector<std::string> policies;
  std::vector<Placement> placements;
  bool against_cublasxt = false, against_openblas = false;
  std::vector<Index> xt_blocks;
  int repeat = 5, warmup = 1;
  bool check = false, demo = false, statistics = false;
  int overhead = 0;   ///< tasks whose cost is measured instead of a routine; 0: none
  std::string json;   ///< "": none, "-": standard output
  std::string trace;  ///< folder for a trace of one more call; "": none
};

/// @return nothing if only help was asked for, which has then been printed
/// @throws BadArgument
std::optional<Options> parse_options(int argc, char** argv);

/// Replaces what was left to the environment or to the machine by what it comes to.
/// @throws BadArgument if the machine has not what was asked for
void resolve(Options& options, const Machine& machine);

}  // namespace tessera::bench
