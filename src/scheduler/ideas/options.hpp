// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::scheduler {

/// The options of the policy. Each switches off or sizes one idea, so that its effect can be measured. Each is set by
/// an environment variable TESSERA_SCHED_….
struct Options {
  int slots = 16;          ///< SLOTS: how many tasks a GPU reserves; a CPU worker reserves one
  int window = 8;          ///< WINDOW: how many tasks at the front of a queue are compared, or at its end may be stolen
  bool locality = true;    ///< LOCALITY: choose the task with the shortest fetches, not the first one
  bool chains = true;      ///< CHAINS: the tasks that write one tile stay with the worker that has it
  bool prefetch = true;    ///< PREFETCH: fetch the tiles of reserved tasks ahead
  int lookahead = 55;      ///< LOOKAHEAD: percent of the memory beside incomplete results, for reserved tasks
  int results = 40;        ///< RESULTS: percent of a GPU's memory for incomplete results
  bool peers = true;       ///< PEERS: copy from a peer that has the tile, not from a host that is as fast
  bool wait = true;        ///< WAIT: if a tile is on its way to a peer, copy it from there once it has arrived
  bool steal = true;       ///< STEAL: a worker without tasks takes some from others
  bool decline = true;     ///< DECLINE: a worker leaves tasks to faster workers
  bool write_back = true;  ///< WRITE_BACK: write a result back as soon as its last task has ended
};

/// Reads the options from the environment.
/// @throws std::invalid_argument  naming the variable, its value and what is allowed
Options options_from_environment();

}  // namespace tessera::scheduler
