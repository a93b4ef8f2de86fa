// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "devices/simulated/machine_description.hpp"

namespace tessera::machine {

/// Writes StarPU's bus calibration files for the machine. A program started with STARPU_PERF_MODEL_DIR=`folder` and
/// STARPU_HOSTNAME=`host` then runs on this machine.
/// @param pageable  whether the operands are in pageable memory, so that copies between host and GPU also pass through
///                  staging buffers. StarPU's predictions ignore these buffers, as on a real machine
/// @throws RuntimeError if a file cannot be written
void write_starpu_files(const device::simulated::Machine& machine, const std::filesystem::path& folder,
                        const std::string& host, bool pageable = false);

/// The machine as a zone of a larger platform. All names in the zone begin with the zone's name. StarPU expects this
/// when there are several machines.
std::string starpu_zone(const device::simulated::Machine& machine, const std::string& name);

/// SimGrid's name for the link between the host and a GPU.
std::string host_link(int gpu, bool in);

}  // namespace tessera::machine
