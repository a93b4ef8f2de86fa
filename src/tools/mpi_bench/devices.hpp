// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "runtime/counters.hpp"

namespace tessera::mpi_bench {

/// The memories, besides the one that MPI sends from, in which workers of this process compute: those of GPUs, or of
/// NUMA nodes if StarPU distinguishes them.
struct Devices {
  std::vector<int> nodes;  ///< StarPU's memory nodes
  double memory = 0;       ///< bytes of the smallest that tiles may take; 0: no limit known
};
/// @pre StarPU runs
Devices devices_of_process();

/// Lets only workers with such a memory run what this thread submits from now on.
/// @throws BadArgument if there is no other worker
void use_devices_only();

/// Bytes that went over the buses between two counts, for each device on average.
struct BusLoads {
  double from_host = 0, from_peers = 0, to_host = 0;
};
BusLoads loads_between(const Devices& devices, const detail::BytesByLink& before, const detail::BytesByLink& after);

}  // namespace tessera::mpi_bench
