// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "workload/routine.hpp"

/// The command line options that describe the problems.
namespace tessera::bench {

/// Arguments before they are validated.
struct TypedProblem {
  std::vector<std::string> routines{"gemm"}, types{"d"};
  std::vector<std::string> sizes{"4096"};  ///< N, MxN or MxNxK
  Index m = 0, n = 0, k = 0;
  std::string trans_a = "n", trans_b = "n", side = "l", uplo = "l", diag = "n", alpha = "1.1", beta = "0.3", memory;
  Index ld_pad = 0, chain = 1;
  std::uint64_t seed = 1;
};

/// Adds an option whose values are separated by commas.
template <typename Variable>
CLI::Option* add_list(CLI::App& app, const std::string& name, Variable& variable, const std::string& text) {
  return app.add_option(name, variable, text)->delimiter(',')->allow_extra_args(false);
}

void add_problem_options(CLI::App& app, TypedProblem& typed);

/// The letters of some types, or of all.
/// @throws BadArgument
std::string parse_types(const std::vector<std::string>& names);

/// Refuses options that cannot be combined with --sweep.
/// @param others  these options
/// @throws BadArgument
void require_plain_sweep(const CLI::App& app, std::initializer_list<const char*> others, std::size_t numbers_of_gpus);

/// @throws BadArgument
void parse_problem_options(const CLI::App& app, const TypedProblem& typed, ChosenProblems& chosen);

}  // namespace tessera::bench
