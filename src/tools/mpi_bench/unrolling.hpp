// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "mpi_bench/problems.hpp"

namespace tessera::mpi_bench {

/// The cost of submitting one process's part of a call.
struct Unrolling {
  std::uint64_t tasks = 0;               ///< tasks that this process creates
  std::uint64_t sent = 0, received = 0;  ///< tiles
  double handles = 0;                    ///< CPU seconds to register the tiles of all matrices
  double seconds = 0;                    ///< CPU seconds of the call, while no task runs
  std::string dump;                      ///< the tasks and messages of the process, if requested
};

/// Submits a call in double precision as process `rank` of a p×q grid would, without other processes and without MPI: a
/// tile that would be received counts as arrived. The results are meaningless.
/// @param routine  one that exists in double precision and has no pivots
/// @param tiles    the matrices have tiles×tiles tiles
/// @param control  how gemm limits communication, for processes without GPUs and with unlimited memory
/// @param dumps    whether to record the call, which takes time
/// @throws BadArgument for any other routine
Unrolling unroll_alone(const Routine& routine, int p, int q, int rank, Index tiles, const tile::ProcessControl& control,
                       bool dumps);

}  // namespace tessera::mpi_bench
