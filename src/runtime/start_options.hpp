// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tessera/runtime.hpp>

namespace tessera::machine {
struct Machine;
}

namespace tessera::runtime {

/// The placement called "home", "owner" or "scheduler"; empty for other names.
std::optional<Placement> placement_named(std::string_view name);

/// The reverse; "automatic" for Placement::Automatic.
std::string_view name_of(Placement placement);

/// Returns `options` with all fields that the caller left at their defaults taken from the environment.
/// @throws ArgumentError that names the field or variable, its value and what is allowed
RuntimeOptions with_environment(RuntimeOptions options);

/// Checks that this machine has the devices. Like the following functions, throws ArgumentError.
/// @param gpus  number of usable GPUs
/// @param why   why others cannot be used; "": there are no others
void require_devices(const RuntimeOptions& options, Index gpus, const std::string& why);

void require_placement(Placement placement, const std::string& policy);

/// Checks whether a Runtime could start with these options, which include the environment's values. Starts nothing.
/// @param running  the machine of the running session, so that OpenCL devices are not counted again
void require_possible(const RuntimeOptions& options, const machine::Machine& running);

}  // namespace tessera::runtime
