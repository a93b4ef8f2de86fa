// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <exception>
#include <string>

#include <tessera/error.hpp>

namespace tessera::distributed {

/// Calls `start` in all processes of `comm`. If it throws in one process, it throws in all; otherwise the others would
/// wait for that process in the next collective call. Collective.
/// @throws  what `start` throws here; RuntimeError with the message of another process
template <typename Start>
void together(MPI_Comm comm, Start start) {
#ifdef STARPU_SIMGRID  // all processes are identical
  static_cast<void>(comm);
  start();
#else
  std::exception_ptr error;
  std::string message;
  try {
    start();
  } catch (const std::exception& failure) {
    error = std::current_exception(), message = failure.what();
  }
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int mine = error ? rank : size, first = size;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == size) return;
  auto length = static_cast<int>(message.size());
  MPI_Bcast(&length, 1, MPI_INT, first, comm);
  std::string theirs(static_cast<std::size_t>(length), ' ');
  if (rank == first) theirs = message;
  MPI_Bcast(theirs.data(), length, MPI_CHAR, first, comm);
  if (error) std::rethrow_exception(error);
  throw RuntimeError("process " + std::to_string(first) + " cannot start Tessera: " + theirs);
#endif
}

}  // namespace tessera::distributed
