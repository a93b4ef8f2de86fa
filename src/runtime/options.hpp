// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tessera/runtime.hpp>

namespace tessera::detail {

struct Machine;

/// The placement that a user means by "home", "owner" or "scheduler"; nothing for other names.
std::optional<Placement> placement_named(std::string_view name);

/// The reverse; "automatic" for Placement::Automatic.
std::string_view name_of(Placement placement);

/// Returns `options` with all fields that the caller left at their defaults taken from the environment.
/// @throws ArgumentError that names the field or variable, its value and what is allowed
RuntimeOptions with_environment(RuntimeOptions options);

/// Whether this machine has the devices. Throws ArgumentError, as do those below.
/// @param gpus  that can be used
/// @param why   why others cannot be used; "": there are none
void require_devices(const RuntimeOptions& options, Index gpus, const std::string& why);

void require_placement(Placement placement, const std::string& policy);

/// Whether a Runtime could start with these options, which have the environment's values. Starts nothing.
/// @param running  what the running session found: OpenCL devices are not counted again
void require_possible(const RuntimeOptions& options, const Machine& running);

}  // namespace tessera::detail
