// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "runtime/counters.hpp"

namespace tessera::mpi_bench {

/// The memory nodes, other than the one that MPI sends from, in which workers of this process compute: those of GPUs,
/// or of NUMA nodes if StarPU distinguishes them.
struct Devices {
  std::vector<int> nodes;  ///< StarPU's memory nodes
  double memory = 0;       ///< bytes for tiles on the smallest one; 0: no known limit
};
/// @pre StarPU runs
Devices devices_of_process();

/// Restricts everything that this thread submits from now on to workers with such a memory.
/// @throws BadArgument if there is no such worker
void use_devices_only();

/// Bytes transferred over the buses between two counts, averaged over the devices.
struct BusLoads {
  double from_host = 0, from_peers = 0, to_host = 0;
};
BusLoads loads_between(const Devices& devices, const detail::BytesByLink& before, const detail::BytesByLink& after);

}  // namespace tessera::mpi_bench
