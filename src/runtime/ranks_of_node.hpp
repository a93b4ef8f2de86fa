// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <string>
#include <vector>

/// The processes of an MPI program on this node, according to the launcher's variables and /proc. MPI itself cannot be
/// asked, because a program that knows nothing of Tessera may not have initialized it.
namespace tessera::runtime {

/// A process started by the launcher.
struct LaunchedRank {
  int rank = 0;  ///< the rank on this node
  pid_t process = 0;
  cpu_set_t cores = {};      ///< the cores on which the process may run
  std::string visible_gpus;  ///< its CUDA_VISIBLE_DEVICES
};

/// One of several equal parts.
struct NodePart {
  int part = 0, parts = 1;
};

/// The parts of the node that this process may use.
struct SharedWithRanks {
  NodePart cores;  ///< shared with the processes that may run on the same cores
  NodePart gpus;   ///< shared with the processes that see the same GPUs
};

SharedWithRanks shared_with(const LaunchedRank& mine, const std::vector<LaunchedRank>& others);

/// Calls `shared_with` for this process. Nothing is shared without a launcher, or if the other processes cannot be seen
/// and may be bound to other cores.
SharedWithRanks shared_with_ranks_of_node();

/// The number of processes of the MPI program that the launcher has started, on all nodes; 1 without a launcher.
int launched_ranks();
/// The number of this process among them; 0 without a launcher.
int launched_rank();

}  // namespace tessera::runtime
