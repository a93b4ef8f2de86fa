// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sched.h>
#include <starpu.h>  // STARPU_SIMGRID

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "exit_code.hpp"
#include "runtime/ranks_of_node.hpp"

/// For programs that run as one of many processes.
namespace tessera::tools {

/// Lets MPI give up the core while it waits, if the processes do not have enough cores to wait otherwise. Open MPI does
/// so by itself only if mpirun knows that it starts more processes than there are cores (`--oversubscribe`); without,
/// four processes on two cores are up to 300 times slower. @pre  MPI is not initialized
inline void yield_when_idle() {
#ifndef STARPU_SIMGRID
  constexpr int enough = 3;  // workers, StarPU-MPI, and the program
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof(cores), &cores);
  if (CPU_COUNT(&cores) < enough * runtime::shared_with_ranks_of_node().cores.parts)
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
#endif
}

/// Prints an error once. Of the processes with the same error, the first one does; a mistake in the command line would
/// otherwise be printed by all. A process waits a second for others with an error, and these wait for the message,
/// because mpirun ends all processes once one has failed.
inline void print_error_once(const char* program, const char* message) {
#ifdef STARPU_SIMGRID
  print_error(program, message);
#else
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0 || (initialized == 0 && runtime::launched_ranks() == 1)) return print_error(program, message);
  if (initialized == 0) MPI_Init(nullptr, nullptr);
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(1);;) {
    int here = 0;
    MPI_Test(&all, &here, MPI_STATUS_IGNORE);
    if (here != 0) break;
    if (std::chrono::steady_clock::now() > last) return print_error(program, message);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::uint64_t mine = std::hash<std::string_view>{}(message);
  std::vector<std::uint64_t> theirs(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, 1, MPI_UINT64_T, theirs.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  if (std::ranges::find(theirs, mine) - theirs.begin() == rank) print_error(program, message);
  MPI_Barrier(MPI_COMM_WORLD);
  if (initialized == 0) MPI_Finalize();
#endif
}

}  // namespace tessera::tools
