// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <string>
#include <vector>

/// The processes of an MPI program on this node, as the launcher's variables and /proc tell them. It needs no MPI: a
/// program that knows nothing of Tessera may not have initialized it.
namespace tessera::detail {

/// A process that the launcher has started.
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

/// What this process has to share out with others of the node.
struct SharedWithRanks {
  NodePart cores;  ///< with those that may run on the same cores: a launcher may have bound the processes
  NodePart gpus;   ///< with those that see the same GPUs
};

SharedWithRanks shared_with(const LaunchedRank& mine, const std::vector<LaunchedRank>& others);

/// The same, for this process. Without a launcher, or where the other processes cannot be seen and may have been bound,
/// it shares nothing.
SharedWithRanks shared_with_ranks_of_node();

/// The number of processes of the MPI program that the launcher has started, on all nodes; 1 without a launcher.
int launched_ranks();

}  // namespace tessera::detail
