// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// MPI from its start to the exit of the process.
namespace tessera::detail {

/// Initializes MPI, if nobody has. From then on, a process that exits while it has a grid ends all processes.
/// @throws RuntimeError if several threads cannot use it
void initialize_mpi();

/// This process has left its grids because of an exception, and others may wait for it. The program goes on to the
/// handler of the exception. All processes end when this one then exits, finalizes MPI or makes another grid.
/// @param why  the message
void end_all_later(const std::string& why);

}  // namespace tessera::detail
