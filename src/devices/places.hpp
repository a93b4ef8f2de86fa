// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "devices/cpu/topology.hpp"

namespace tessera::device {

/// The machine that StarPU sees: this one, or the one in the file named by STARPU_HWLOC_INPUT. May lack devices.
const Topology& starpus_machine();

/// The places of all GPUs, indexed by CUDA ordinal. Found once per process.
const std::vector<Place>& gpu_places();
/// The places of all OpenCL devices, indexed by StarPU's number. Found once per process.
const std::vector<Place>& opencl_places();

/// The NUMA nodes near any of these devices.
std::vector<int> nodes_near(const std::vector<Place>& places);

/// The NUMA nodes over which memory for these devices should be spread: the nodes near them or all nodes, whichever is
/// faster. Empty if only one node has processors, or if the system's choice is faster than all nodes and no place is
/// known.
/// @param rate  measures memory that is spread over these nodes [bytes/s]. Not called if there is only one choice
std::vector<int> nodes_for_memory(const Topology& machine, const std::vector<Place>& places,
                                  const std::function<double(const std::vector<int>&)>& rate);

/// Binds the calling thread to those of its processors that are near a device.
void run_near(const Place& place);

}  // namespace tessera::device
