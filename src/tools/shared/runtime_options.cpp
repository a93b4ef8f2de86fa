// SPDX-License-Identifier: BSD-3-Clause
#include "shared/runtime_options.hpp"

#include <tessera/error.hpp>

#include "runtime/options.hpp"
#include "runtime/policy_names.hpp"
#include "shared/bad_argument.hpp"

namespace tessera::tools {

CLI::Validator whole_number(Index least, Index most) {
  auto range = CLI::Range(least, most);
  range.description("");
  return range;
}

void add_runtime_options(CLI::App& app, TypedRuntime& typed, bool several) {
  const auto list = [&](const char* name, auto& variable, const char* what, const std::string& text) {
    auto* option = app.add_option(name, variable, text + (several ? "; a list runs one after another" : ""));
    if (several) option->delimiter(',')->allow_extra_args(false);
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
        list("--policy", typed.policies, "NAME", "StarPU scheduling policy (the library's choice)"),
        list("--placement", typed.placements, "NAME", "home, owner or scheduler (the library's choice)")})
    option->group("What it runs on");
}

std::vector<std::string> parse_policies(const TypedRuntime& typed) {
  if (typed.policies.empty()) return {""};
  for (const auto& name : typed.policies) {
    try {
      detail::require_policy(name);
    } catch (const ArgumentError& error) {
      throw BadArgument("--policy " + name + ": " + error.what());
    }
  }
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
