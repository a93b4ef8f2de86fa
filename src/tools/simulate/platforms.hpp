// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "devices/simulated/machine_description.hpp"

namespace tessera::simulate {

/// The file of a described machine.
/// @param name  a machine in traces/platforms, or a file
/// @throws BadArgument if there is none
std::filesystem::path find_platform(const std::string& name);
/// @throws BadArgument if the file does not describe a machine
device::simulated::Machine read_platform(const std::filesystem::path& file);

/// The folder of the machine's files for StarPU. The simulation may write there, too.
using Scratch = std::filesystem::path;
/// The name of the machine in these files.
constexpr const char* host_name = "simulated";

/// Sets the variables that the simulating StarPU reads.
/// @param gpu_memory  MiB of each GPU; 0: all of its memory
void put_environment(const std::filesystem::path& platform, const Scratch& scratch, int gpu_memory,
                     const device::simulated::Machine& machine);

/// Describes processes on machines of this kind, and the network between them, to SimGrid: writes a platform file, and
/// the list of hosts on which `smpirun` starts the processes.
/// @pre the machine has a network
/// @throws RuntimeError if a file cannot be written
void write_cluster(const device::simulated::Machine& machine, int processes, const std::filesystem::path& platform,
                   const std::filesystem::path& hosts);

}  // namespace tessera::simulate
