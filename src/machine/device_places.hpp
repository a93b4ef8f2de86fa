// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topology.hpp"

namespace tessera::detail {

/// The machine that StarPU sees: this one, or the one in the file named by STARPU_HWLOC_INPUT. May lack devices.
const Topology& starpus_machine();

/// The places of all GPUs, indexed by CUDA ordinal. Found once per process.
const std::vector<Place>& gpu_places();
/// The places of all OpenCL devices, indexed by StarPU's number. Found once per process.
const std::vector<Place>& opencl_places();

/// The NUMA nodes near any of these devices.
std::vector<int> nodes_near(const std::vector<Place>& places);

/// Binds the calling thread to those of its processors that are near a device.
void run_near(const Place& place);

}  // namespace tessera::detail
