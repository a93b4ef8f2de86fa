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
  int devices = 0;                      ///< of each process: the fewest
  double device_memory = 0;             ///< bytes of the smallest; 0: no limit known
  BusLoads loads;                       ///< of the last call, of each device on average over all processes
  std::optional<double> residual;

  double mean_received() const;
};

/// Measures `repeat` calls, after one that is not. Collective.
Result measure(const Grid& grid, Problem& problem, int repeat, bool check);

}  // namespace tessera::mpi_bench
