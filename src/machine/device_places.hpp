// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topology.hpp"

namespace tessera::detail {

/// The machine as StarPU sees it: this one, or the one in the file that STARPU_HWLOC_INPUT names. It may lack devices.
const Topology& starpus_machine();

/// The places of all GPUs, by CUDA's numbers. Like the next one, it looks once in a process.
const std::vector<Place>& gpu_places();
/// Those of all OpenCL devices, by StarPU's numbers.
const std::vector<Place>& opencl_places();

/// The NUMA nodes near any of these devices.
std::vector<int> nodes_near(const std::vector<Place>& places);

/// Lets the calling thread run only on the processors near a device, if it may run on any of them.
void run_near(const Place& place);

}  // namespace tessera::detail
