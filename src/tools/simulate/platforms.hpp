// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

namespace tessera::simulate {

/// The file of a described machine.
/// @param name  a machine in traces/platforms, or a file
/// @throws BadArgument if there is none
std::filesystem::path find_platform(const std::string& name);

}  // namespace tessera::simulate
