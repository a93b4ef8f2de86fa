// SPDX-License-Identifier: BSD-3-Clause
#include "shared/runtime_options.hpp"

#include <cstdlib>
#include <filesystem>

#include <tessera/error.hpp>

#include "runtime/policy_names.hpp"
#include "runtime/start_options.hpp"
#include "shared/exit_code.hpp"

namespace tessera::tools {

namespace {

/// Calls `check`. If it refuses the value, the error names the option of the command line.
template <typename Check>
auto checked(const std::string& option, const std::string& value, Check check) {
  try {
    return check();
  } catch (const ArgumentError& error) {
    const auto& problem = error.problem();  // "is 'VALUE', …", or the message about TESSERA_SCHED
    throw BadArgument(option + (problem.starts_with("is ") ? " " : " " + value + ": ") + problem);
  }
}

/// Passes an absolute path to StarPU, because the loader searches the system's folders for names without a slash.
void use_policy_library(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) throw BadArgument("--policy-library", file, "is not a file");
  setenv("STARPU_SCHED_LIB", std::filesystem::absolute(file).c_str(), 1);
}

}  // namespace

CLI::Validator whole_number(Index least, Index most) {
  auto range = CLI::Range(least, most);
  range.description("");
  return range;
}

void add_runtime_options(CLI::App& app, TypedRuntime& typed, bool several) {
  const auto before = app.option_defaults()->get_group();
  app.option_defaults()->group("What it runs on");
  const auto list = [&](const char* name, auto& variable, const char* value, const std::string& text) {
    auto* option =
        add_option(app, name, variable, value, text + (several ? "; those of a list run one after another" : ""));
    option->allow_extra_args(false);  // what follows may be another argument
    return several ? option->delimiter(',') : option->expected(1);
  };
  list("--gpus", typed.gpus, "N", "GPUs (all)")->check(whole_number(0, 1024));
  add_number(app, "--cpus", typed.cpus, "N", 0, 65536,
             "number of CPU workers (all cores; with GPUs, the library's choice)");
  add_number(app, "--tile", typed.tile, "NB", 1, largest_size, "tile size (the library's choice)");
  list("--policy", typed.policies, "NAME",
       "tessera, lws, dmdas, eager, or another policy of StarPU (the library's choice)");
  add_option(app, "--policy-library", typed.policy_library, "FILE",
             "a library with your own scheduling policies; --policy selects one (the first)");
  list("--placement", typed.placements, "NAME", "home, owner or scheduler (the library's choice)");
  app.option_defaults()->group(before);
}

std::vector<std::string> parse_policies(const TypedRuntime& typed) {
  if (!typed.policy_library.empty()) {
    use_policy_library(typed.policy_library);
    const auto first = checked("--policy-library", typed.policy_library, runtime::first_policy_of_library);
    if (typed.policies.empty()) return {first};
  }
  if (typed.policies.empty()) return {""};
  for (const auto& name : typed.policies) checked("--policy", name, [&] { runtime::require_policy(name); });
  return typed.policies;
}

std::vector<Placement> parse_placements(const TypedRuntime& typed) {
  if (typed.placements.empty()) return {Placement::Automatic};
  std::vector<Placement> result;
  for (const auto& name : typed.placements) {
    const auto placement = runtime::placement_named(name);
    if (!placement) throw BadArgument("--placement", name, "is not one of home, owner, scheduler");
    result.push_back(*placement);
  }
  return result;
}

RuntimeOptions parse_runtime(const TypedRuntime& typed) {
  RuntimeOptions options;
  options.cpus = typed.cpus, options.tile = typed.tile;
  if (!typed.gpus.empty()) options.gpus = typed.gpus.front();
  options.policy = parse_policies(typed).front(), options.placement = parse_placements(typed).front();
  return options;
}

RuntimeOptions with_environment(const RuntimeOptions& options) { return runtime::with_environment(options); }

std::string placement_name(Placement placement) { return std::string(runtime::name_of(placement)); }

}  // namespace tessera::tools
