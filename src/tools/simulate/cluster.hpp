// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include "machine/simulation/machine.hpp"

namespace tessera::simulate {

/// Describes processes on machines of this kind, and the network between them, to SimGrid: writes a platform file, and
/// the list of hosts on which `smpirun` starts the processes.
/// @pre the machine has a network
/// @throws RuntimeError if a file cannot be written
void write_cluster(const simulation::Machine& machine, int processes, const std::filesystem::path& platform,
                   const std::filesystem::path& hosts);

}  // namespace tessera::simulate
