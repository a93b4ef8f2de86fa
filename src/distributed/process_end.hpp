// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// MPI from its start to the exit of the process.
namespace tessera::distributed {

/// Initializes MPI unless the program has. From then on, a process that exits or finalizes MPI while it has a grid ends
/// all processes.
/// @throws RuntimeError if MPI does not support several threads
void initialize_mpi();

/// Makes an exit with another status than 0 end all processes while this process has a grid. A Grid with static storage
/// would wait for the others before the handlers of `initialize_mpi` run. Call this after its constructor, once for
/// each network: what is registered first runs last.
void end_all_at_failing_exit();

/// Called when an exception has left the scope of this process's grids while others may wait for the process. The
/// program continues to the handler. All processes end when this process then exits, finalizes MPI or makes another
/// grid.
/// @param why  the message
void end_all_later(const std::string& why);

}  // namespace tessera::distributed
