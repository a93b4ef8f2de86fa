// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::scheduler {

/// How a worker chooses among ready tasks: takes the first one, or compares the locations of the tiles that they read.
enum class Locality {
  Off,   ///< the first by priority, then by submission
  Time,  ///< the least time to fetch the missing tiles
  Hits   ///< the most hits, as BLASX counts them
};

/// The options of the policy. Each option switches one idea on or off, or tunes it, so that its effect can be measured.
/// The environment variable TESSERA_SCHED sets them, for example: -steal,slots=8
struct Options {
  int slots = 64;  ///< number of tasks that a GPU reserves; a CPU worker reserves one
  int window = 8;  ///< number of tasks compared at the front of a queue, or open to stealing at its end
  Locality locality = Locality::Time;
  bool chains = true;      ///< run all tasks that write one tile on the worker that has it
  bool prefetch = true;    ///< fetch the tiles of reserved tasks in advance
  int lookahead = 55;      ///< percent of the memory not used by incomplete results, for reserved tasks
  int results = 40;        ///< percent of a GPU's memory for incomplete results
  bool wait = true;        ///< if a tile is on its way to a peer, wait and copy it from the peer
  bool relay = false;      ///< load operands over the links of peers that are less busy
  bool steal = true;       ///< workers without tasks take some from others
  bool decline = true;     ///< workers leave tasks to faster workers
  bool models = true;      ///< predict durations by the program's performance models until they have been measured
  bool write_back = true;  ///< write a result back as soon as its last task has ended
};

/// Reads the options from the environment.
/// @throws std::invalid_argument  naming the word in the variable and what is allowed
Options options_from_environment();

}  // namespace tessera::scheduler
