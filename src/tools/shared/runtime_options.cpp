// SPDX-License-Identifier: BSD-3-Clause
#include "shared/runtime_options.hpp"

#include <cstdlib>
#include <filesystem>

#include <tessera/error.hpp>

#include "runtime/options.hpp"
#include "runtime/policy_names.hpp"
#include "shared/bad_argument.hpp"

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
  const auto list = [&](const char* name, auto& variable, const char* what, const std::string& text) {
    auto* option = app.add_option(name, variable, text + (several ? "; those of a list run one after another" : ""));
    option->allow_extra_args(false);  // what follows may be another argument
    if (several) option->delimiter(',');
    else option->expected(1);
    return option->type_name(what);
  };
  for (auto* option :
       {list("--gpus", typed.gpus, "N", "GPUs (all)")->check(whole_number(0, 1024)),
        app.add_option("--cpus", typed.cpus, "number of CPU workers (all cores)")
            ->type_name("N")
            ->check(whole_number(0, 65536)),
        app.add_option("--tile", typed.tile, "tile size (the library's choice)")
            ->type_name("NB")
            ->check(whole_number(1, 2147483647)),
        list("--policy", typed.policies, "NAME",
             "tessera, lws, dmdas, eager, or another policy of StarPU (the library's choice)"),
        app.add_option("--policy-library", typed.policy_library,
                       "a library with your own scheduling policies; --policy selects one (the first)")
            ->type_name("FILE"),
        list("--placement", typed.placements, "NAME", "home, owner or scheduler (the library's choice)")})
    option->group("What it runs on");
}

std::vector<std::string> parse_policies(const TypedRuntime& typed) {
  if (!typed.policy_library.empty()) {
    use_policy_library(typed.policy_library);
    const auto first = checked("--policy-library", typed.policy_library, detail::first_policy_of_library);
    if (typed.policies.empty()) return {first};
  }
  if (typed.policies.empty()) return {""};
  for (const auto& name : typed.policies) checked("--policy", name, [&] { detail::require_policy(name); });
  return typed.policies;
}

std::vector<Placement> parse_placements(const TypedRuntime& typed) {
  if (typed.placements.empty()) return {Placement::Automatic};
  std::vector<Placement> result;
  for (const auto& name : typed.placements) {
    const auto placement = detail::placement_named(name);
    if (!placement) throw BadArgument("--placement", name, "is not one of home, owner, scheduler");
    result.push_back(*placement);
  }
  return result;
}

RuntimeOptions with_environment(const RuntimeOptions& options) { return detail::with_environment(options); }

std::string placement_name(Placement placement) { return std::string(detail::name_of(placement)); }

}  // namespace tessera::tools
