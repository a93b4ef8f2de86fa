// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topology.hpp"

namespace tessera::detail {

/// The machine that StarPU sees: this one, or the one in the file named by STARPU_HWLOC_INPUT. Devices may be missing.
const Topology& starpus_machine();

/// The places of all GPUs, indexed by CUDA ordinal. This and `opencl_places` search only once per process.
const std::vector<Place>& gpu_places();
/// The places of all OpenCL devices, indexed by StarPU's number.
const std::vector<Place>& opencl_places();

/// The NUMA nodes near any of these devices.
std::vector<int> nodes_near(const std::vector<Place>& places);

/// Binds the calling thread to the processors near a device, as far as it may run on them.
void run_near(const Place& place);

}  // namespace tessera::detail
