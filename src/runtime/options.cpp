// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <starpu_config.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include <tessera/error.hpp>

#include "common/environment.hpp"
#include "machine/gpu.hpp"
#include "machine/machine.hpp"
#include "policy_names.hpp"

namespace tessera::detail {

namespace {

/// Positions of the fields in RuntimeOptions, for ArgumentError.
enum Field {
  Cpus = 1,
  Gpus,
  Policy,
  PlacementField,
  Tile,
  Trace,
  ProgressField,
  GpuMemory,
  PinnedMemory,
  Opencl,
  NodePart,
  NodeParts,
  CpusWithoutGpus,
  Cuda
};

/// The value of the variable, a number from 0 to `largest`; `missing` if the variable is not set.
Index number(Field field, const char* variable, Index missing, Index largest) {
  const auto text = environment(variable);
  if (text.empty()) return missing;
  const auto value = as_number<Index>(text);
  if (!value || *value < 0 || *value > largest)
    throw ArgumentError("Runtime", field, variable,
                        "is '" + std::string(text) + "', must be a number from 0 to " + std::to_string(largest));
  return *value;
}

void require_range(Field field, const char* name, Index value, Index smallest, Index largest) {
  if (value < smallest || value > largest)
    throw ArgumentError("Runtime", field, name,
                        "is " + std::to_string(value) + ", must be from " + std::to_string(smallest) + " to " +
                            std::to_string(largest));
}

std::optional<bool> flag(Field field, const char* variable) {
  const auto text = environment(variable);
  if (text.empty()) return {};
  if (text == "0" || text == "1") return text == "1";
  throw ArgumentError("Runtime", field, variable, "is '" + std::string(text) + "', must be 0 or 1");
}

Placement placement_from_environment() {
  const auto text = environment("TESSERA_PLACEMENT");
  if (text.empty()) return Placement::Automatic;
  if (const auto placement = placement_named(text)) return *placement;
  throw ArgumentError("Runtime", PlacementField, "TESSERA_PLACEMENT",
                      "is '" + std::string(text) + "', must be home, owner or scheduler");
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

std::optional<bool> even_edges_asked_for() {
  const auto text = environment("TESSERA_TILE_EDGES");
  if (text.empty()) return {};
  if (text == "even" || text == "ragged") return text == "even";
  throw ArgumentError("Runtime", Tile, "TESSERA_TILE_EDGES", "is '" + std::string(text) + "', must be even or ragged");
}

RuntimeOptions with_environment(RuntimeOptions options) {
  constexpr Index most_workers = 1 << 16, most_cpus = STARPU_MAXCPUS, largest_tile = std::numeric_limits<int>::max();
  constexpr Index most_memory = Index{1} << 40;  // MiB
  require_range(Cpus, "cpus", options.cpus, -1, most_cpus);
  require_range(CpusWithoutGpus, "cpus_without_gpus", options.cpus_without_gpus, -1, most_cpus);
  require_range(Gpus, "gpus", options.gpus, -1, most_workers);
  require_range(Cuda, "cuda", options.cuda, -1, most_workers);
  require_range(Opencl, "opencl", options.opencl, -1, most_workers);
  require_range(Tile, "tile", options.tile, 0, largest_tile);
  require_range(GpuMemory, "gpu_memory", options.gpu_memory, 0, most_memory);
  if (options.cpus < 0) options.cpus = static_cast<int>(number(Cpus, "TESSERA_CPUS", -1, most_cpus));
  if (options.gpus < 0) options.gpus = static_cast<int>(number(Gpus, "TESSERA_GPUS", -1, most_workers));
  if (options.opencl < 0) options.opencl = static_cast<int>(number(Opencl, "TESSERA_OPENCL", -1, most_workers));
  if (options.cuda < 0) options.cuda = static_cast<int>(number(Cuda, "TESSERA_CUDA_GPUS", -1, most_workers));
  if (options.tile == 0) options.tile = number(Tile, "TESSERA_TILE", 0, largest_tile);
  require_range(PinnedMemory, "pinned_memory", options.pinned_memory, 0, most_memory);
  if (options.pinned_memory == 0) options.pinned_memory = number(PinnedMemory, "TESSERA_PINNED_MEMORY", 0, most_memory);
  if (options.gpu_memory == 0) options.gpu_memory = number(GpuMemory, "TESSERA_GPU_MEMORY", 0, most_memory);
  for (const char* variable : {"TESSERA_POLICY", "STARPU_SCHED"})
    if (options.policy.empty()) options.policy = environment(variable);
  if (options.trace.empty()) options.trace = environment("TESSERA_TRACE");
  if (options.placement == Placement::Automatic) options.placement = placement_from_environment();
  if (!options.progress) options.progress = flag(ProgressField, "TESSERA_PROGRESS");
  return options;
}

void require_devices(const RuntimeOptions& options, Index gpus, const std::string& why) {
  if (options.gpus > gpus)
    throw ArgumentError("Runtime", Gpus, "gpus",
                        "is " + std::to_string(options.gpus) + ", but this machine has " + std::to_string(gpus) +
                            " that can be used" + (why.empty() ? "" : " (" + why + ")"));
  if (options.cpus == 0 && (gpus == 0 || options.gpus == 0))
    throw ArgumentError("Runtime", Cpus, "cpus", "is 0 and there is no GPU: nothing could compute");
}

void require_placement(Placement placement, const std::string& policy) {
  if (placement == Placement::Home && policy != our_policy)
    throw ArgumentError("Runtime", PlacementField, "placement",
                        "is home, which only the policy tessera knows, not " + policy);
}

void require_possible(const RuntimeOptions& options, const Machine& running) {
  const Index opencl = std::ranges::count_if(running.gpu_info, &gpu::Info::opencl);
  require_devices(options, std::ssize(gpu::visible_devices()) + opencl, "");
  const std::string policy = options.policy.empty() ? our_policy : options.policy;
  require_policy(policy);
  require_placement(options.placement, policy);
}

}  // namespace tessera::detail
