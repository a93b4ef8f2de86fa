// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <string>
#include <vector>

/// The processes of an MPI program on this node, according to the launcher's variables and /proc. MPI itself is not
/// used, because a program that knows nothing of Tessera may not have initialized it.
namespace tessera::detail {

/// A process started by the launcher.
struct LaunchedRank {
  int rank = 0;  ///< on this node
  pid_t process = 0;
  cpu_set_t cores = {};      ///< on which it may run
  std::string visible_gpus;  ///< its CUDA_VISIBLE_DEVICES
};

/// One of several equal parts.
struct NodePart {
  int part = 0, parts = 1;
};

/// What this process has to share with others on the node.
struct SharedWithRanks {
  NodePart cores;  ///< with those that may run on the same cores: a launcher may have bound the processes
  NodePart gpus;   ///< with those that see the same GPUs
};

SharedWithRanks shared_with(const LaunchedRank& mine, const std::vector<LaunchedRank>& others);

/// The same, for this process. It shares nothing if there is no launcher, or if the other processes cannot be seen and
/// may have been bound to other cores.
SharedWithRanks shared_with_ranks_of_node();

/// The number of processes of the MPI program that the launcher has started, on all nodes; 1 without a launcher.
int launched_ranks();

}  // namespace tessera::detail
