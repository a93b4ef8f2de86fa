// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "machine.hpp"

namespace tessera::simulation {

/// Writes the machine as StarPU's bus calibration files. A program started with STARPU_PERF_MODEL_DIR=`folder` and
/// STARPU_HOSTNAME=`host` then runs on this machine.
/// @param pageable  whether the operands are in pageable memory: copies between host and GPU then pass the staging
///                  buffers, too. The rates and latencies from which StarPU predicts are those of the links, as on a
///                  real machine
/// @throws RuntimeError if a file cannot be written
void write_starpu_files(const Machine& machine, const std::filesystem::path& folder, const std::string& host,
                        bool pageable = false);

/// The machine as a zone of a larger platform. All names in it begin with that of the zone, as StarPU expects if there
/// are several machines.
std::string starpu_zone(const Machine& machine, const std::string& name);

/// SimGrid's name for the link between the host and a GPU.
std::string host_link(int gpu, bool in);

}  // namespace tessera::simulation
