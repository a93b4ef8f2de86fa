// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::scheduler {

/// The options of the policy. Each switches off or sizes one idea, so that its effect can be measured. The environment
/// variable TESSERA_SCHED sets them: -steal,slots=8 for example.
struct Options {
  int slots = 16;          ///< how many tasks a GPU reserves; a CPU worker reserves one
  int window = 8;          ///< how many tasks at the front of a queue are compared, or at its end may be stolen
  bool locality = true;    ///< choose the task with the shortest fetches, not the first one
  bool chains = true;      ///< the tasks that write one tile stay with the worker that has it
  bool prefetch = true;    ///< fetch the tiles of reserved tasks ahead
  int lookahead = 55;      ///< percent of the memory beside incomplete results, for reserved tasks
  int results = 40;        ///< percent of a GPU's memory for incomplete results
  bool peers = true;       ///< copy from a peer that has the tile, not from a host that is as fast
  bool wait = true;        ///< if a tile is on its way to a peer, copy it from there once it has arrived
  bool steal = true;       ///< a worker without tasks takes some from others
  bool decline = true;     ///< a worker leaves tasks to faster workers
  bool write_back = true;  ///< write a result back as soon as its last task has ended
};

/// Reads the options from the environment.
/// @throws std::invalid_argument  naming the word in the variable and what is allowed
Options options_from_environment();

}  // namespace tessera::scheduler
