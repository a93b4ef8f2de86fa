// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "devices.hpp"
#include "problems.hpp"

namespace tessera::mpi_bench {

/// One measurement, the same in all processes.
struct Result {
  double seconds = 0;                   ///< median of the calls, each until the last process has its result
  std::vector<std::uint64_t> received;  ///< bytes of the last call, by process
  int devices = 0;                      ///< of each process; the minimum
  double device_memory = 0;             ///< bytes of the smallest one; 0: no known limit
  BusLoads loads;                       ///< of the last call, averaged over the devices of all processes
  std::optional<double> residual;

  double mean_received() const;
};

/// Measures `repeat` calls, after an unmeasured one. Collective.
Result measure(const Grid& grid, Problem& problem, int repeat, bool check);

}  // namespace tessera::mpi_bench
