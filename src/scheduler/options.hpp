// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::scheduler {

/// What can be set from outside, each by an environment variable TESSERA_SCHED_…: so that every idea can be switched
/// off and its worth be measured.
struct Options {
  int slots = 16;        ///< SLOTS: tasks that a GPU reserves; a CPU worker reserves one
  int window = 8;        ///< WINDOW: tasks at the front of a queue that are compared, or at its end offered to a thief
  bool locality = true;  ///< LOCALITY: the task with most bytes at hand, else the first one
  bool chains = true;    ///< CHAINS: tasks of one output tile stay with the worker that has it
  bool prefetch = true;  ///< PREFETCH: what is reserved is fetched ahead
  int lookahead = 55;    ///< LOOKAHEAD: percent of the memory that incomplete results leave, for what is reserved
  int results = 40;      ///< RESULTS: percent of a GPU's memory for results that are not complete
  bool peers = true;  ///< PEERS: copies come from a peer GPU that has the tile rather than from a host that is as fast
  bool wait = true;   ///< WAIT: a tile on its way to a peer is fetched from there when it has arrived
  bool steal = true;  ///< STEAL: a worker with nothing to do takes from others
  bool horizon = true;     ///< HORIZON: a worker too slow for a task leaves it to the others
  bool write_back = true;  ///< WRITE_BACK: results go home as soon as their last task is done
};

/// From the environment.
/// @throws std::invalid_argument  naming the variable, its value and what is allowed
Options options_from_environment();

}  // namespace tessera::scheduler
