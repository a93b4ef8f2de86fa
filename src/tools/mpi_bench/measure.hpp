// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "devices.hpp"
#include "problems.hpp"

namespace tessera::mpi_bench {

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

/// Measures `repeat` calls after a warm-up call. Collective.
Result measure(const Grid& grid, Problem& problem, int repeat, bool check);

}  // namespace tessera::mpi_bench
