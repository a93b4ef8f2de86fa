// SPDX-License-Identifier: BSD-3-Clause
#include "start_options.hpp"

#include <starpu_config.h>

#include <algorithm>
#include <concepts>
#include <iterator>
#include <string_view>
#include <utility>

#include "common/device_choice.hpp"
#include "devices/gpu.hpp"
#include "machine/machine.hpp"
#include "policy_names.hpp"

namespace tessera::runtime {

namespace {

/// A field of RuntimeOptions and its variable.
struct Option {
  const char* field;
  common::Variable variable;
};

void require_allowed(const char* field, Index value, Index unset, const common::Values& values) {
  if (value == unset || (value >= values.least && value <= values.most)) return;
  throw common::option_error(field, "is " + std::to_string(value) + ", must be " + values.allowed());
}

/// If a field is not set, take its value from its variable.
template <std::integral Number>
void take(const Option& option, Number unset, Number& field) {
  require_allowed(option.field, field, unset, option.variable.values);
  if (field == unset) field = static_cast<Number>(common::number_in(option.variable).value_or(unset));
}
void take(const Option& option, const std::string& /*unset*/, std::string& field) {
  if (field.empty()) field = common::text_of(option.variable);
}
void take(const Option& option, std::optional<bool> /*unset*/, std::optional<bool>& field) {
  if (!field) field = common::flag_in(option.variable);
}
void take(const Option& option, Placement unset, Placement& field) {
  if (field == unset) field = placement_named(common::text_of(option.variable)).value_or(unset);
}

constexpr std::pair<std::string_view, Placement> placements[] = {
    {"home", Placement::Home}, {"owner", Placement::Owner}, {"scheduler", Placement::Scheduler}};

}  // namespace

std::optional<Placement> placement_named(std::string_view name) {
  for (const auto& [known, placement] : placements)
    if (name == known) return placement;
  return {};
}

std::string_view name_of(Placement placement) {
  for (const auto& [name, known] : placements)
    if (placement == known) return name;
  return "automatic";
}

RuntimeOptions with_environment(RuntimeOptions options) {
  using namespace common::values;
  common::refuse_old_variables();
  const RuntimeOptions unset;
#define FIELD(name, variable, values, ...) take({#name, {variable, values}}, unset.name, options.name);
#define VARIABLE(...)
#include "common/variables.def"
#undef FIELD
#undef VARIABLE
  require_allowed("cpus_without_gpus", options.cpus_without_gpus, -1, numbers(0, STARPU_MAXCPUS));
  const auto chosen = common::device_choice();
  const auto take_count = [](const char* name, int& count, int in_environment) {
    require_allowed(name, count, -1, common::device_count);
    if (count < 0) count = in_environment;
  };
  take_count("gpus", options.gpus, chosen.gpus);
  take_count("cuda", options.cuda, chosen.cuda);
  take_count("opencl", options.opencl, chosen.opencl);
  if (options.policy.empty()) options.policy = common::environment("STARPU_SCHED");
  return options;
}

void require_devices(const RuntimeOptions& options, Index gpus, const std::string& why) {
  if (options.gpus > gpus)
    throw common::option_error("gpus", "is " + std::to_string(options.gpus) + ", but this machine has " +
                                           std::to_string(gpus) + " that can be used" +
                                           (why.empty() ? "" : " (" + why + ")"));
  if (options.cpus == 0 && (gpus == 0 || options.gpus == 0))
    throw common::option_error("cpus", "is 0 and there is no GPU: nothing could compute");
}

void require_placement(Placement placement, const std::string& policy) {
  if (placement == Placement::Home && policy != our_policy)
    throw common::option_error("placement", "is home, which only the policy tessera supports, not " + policy);
}

void require_possible(const RuntimeOptions& options, const machine::Machine& running) {
  const Index opencl = std::ranges::count_if(running.gpu_info, &device::gpu::Info::opencl);
  const Index found = std::ssize(device::gpu::visible_devices()) + opencl;
  const auto unusable = options.gpus > found ? device::gpu::probe(options.gpus).unusable : std::vector<std::string>();
  require_devices(options, found, unusable.empty() ? "" : unusable.front());
  const std::string policy = options.policy.empty() ? our_policy : options.policy;
  require_policy(policy);
  require_placement(options.placement, policy);
}

}  // namespace tessera::runtime
