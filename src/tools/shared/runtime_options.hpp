// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

/// Command line options for starting the Runtime, shared by the programs.
namespace tessera::tools {

/// Arguments before they are validated.
struct TypedRuntime {
  std::vector<int> gpus;
  int cpus = -1;
  Index tile = 0;
  std::vector<std::string> policies, placements;
  std::string policy_library;
};

/// Accepts whole numbers from `least` to `most`. The help text does not show CLI11's description of the range.
CLI::Validator whole_number(Index least, Index most);

/// Adds an option with a value. @param value  what the help text calls it
template <typename Variable>
CLI::Option* add_option(CLI::App& app, const char* name, Variable& variable, const char* value,
                        const std::string& text) {
  return app.add_option(name, variable, text)->type_name(value);
}
/// The same for whole numbers from `least` to `most`.
template <typename Variable>
CLI::Option* add_number(CLI::App& app, const char* name, Variable& variable, const char* value, Index least, Index most,
                        const std::string& text) {
  return add_option(app, name, variable, value, text)->check(whole_number(least, most));
}
/// The largest size of a matrix that options accept.
constexpr Index largest_size = 2147483647;

/// Adds options in the group "What it runs on".
/// @param several  accepts lists of GPU counts, policies and placements instead of one each
void add_runtime_options(CLI::App& app, TypedRuntime& typed, bool several);

/// Parses the policies, and lets StarPU load those of `typed.policy_library`.
/// @return at least one policy; "" leaves the choice to the environment and the library
/// @throws BadArgument if StarPU does not know one, or cannot use that library
std::vector<std::string> parse_policies(const TypedRuntime& typed);

/// @return at least one placement
/// @throws BadArgument
std::vector<Placement> parse_placements(const TypedRuntime& typed);

/// The options for a single Runtime.
/// @throws BadArgument
RuntimeOptions parse_runtime(const TypedRuntime& typed);

/// `options` with every unset option taken from the environment.
/// @throws ArgumentError
RuntimeOptions with_environment(const RuntimeOptions& options);

/// "home", "owner", "scheduler" or "automatic"
std::string placement_name(Placement placement);

}  // namespace tessera::tools
