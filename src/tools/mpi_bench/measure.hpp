// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpi_bench/problems.hpp"
#include "runtime/counters.hpp"

namespace tessera::mpi_bench {

/// The memory nodes in which workers of this process compute, except the node from which MPI sends. They belong to
/// GPUs, or to NUMA nodes if StarPU distinguishes these.
struct Devices {
  std::vector<int> nodes;  ///< StarPU's memory nodes
  double memory = 0;       ///< bytes for tiles on the device with the least memory; 0: no known limit
};
/// @pre StarPU runs
Devices devices_of_process();

/// Restricts all tasks that this thread submits from now on to workers that compute in these memory nodes.
/// @throws BadArgument if there is no such worker
void use_devices_only();

/// Bytes transferred over the buses between two readings, averaged over the devices.
struct BusLoads {
  double from_host = 0, from_peers = 0, to_host = 0;
};
BusLoads loads_between(const Devices& devices, const runtime::BytesByLink& before, const runtime::BytesByLink& after);

/// The result of a measurement; the same in all processes.
struct Result {
  double seconds = 0;                   ///< median time of a call, until the last process has its result
  std::vector<std::uint64_t> received;  ///< bytes of the last call, by process
  int devices = 0;                      ///< number of devices of a process; the minimum
  double device_memory = 0;             ///< bytes of the device with the least memory; 0: no known limit
  BusLoads loads;                       ///< loads of the last call, averaged over the devices of all processes
  std::optional<double> residual;

  double mean_received() const;
};

/// Measures `repeat` calls after a warm-up call. All processes begin a call together, once all have filled their
/// matrices. Collective.
Result measure(const Grid& grid, Problem& problem, int repeat, bool check);

}  // namespace tessera::mpi_bench
