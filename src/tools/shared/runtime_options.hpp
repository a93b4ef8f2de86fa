// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

/// The options that both programs have: what the Runtime is started with.
namespace tessera::tools {

/// As they were typed.
struct TypedRuntime {
  std::vector<int> gpus;
  int cpus = -1;
  Index tile = 0;
  std::vector<std::string> policies, placements;
};

/// A whole number from `least` to `most`, without CLI11's way of saying so in the help text.
CLI::Validator whole_number(Index least, Index most);

/// @param several  lists of GPU counts, policies and placements instead of one each
void add_runtime_options(CLI::App& app, TypedRuntime& typed, bool several);

/// At least one; "" leaves it to the environment and the library.
/// @throws BadArgument if StarPU does not know one
std::vector<std::string> parse_policies(const TypedRuntime& typed);

/// At least one.
/// @throws BadArgument
std::vector<Placement> parse_placements(const TypedRuntime& typed);

/// `options` with what was left alone taken from the environment.
/// @throws ArgumentError
RuntimeOptions with_environment(const RuntimeOptions& options);

/// "owner", "scheduler" or "automatic"
const char* placement_name(Placement placement);

}  // namespace tessera::tools
