// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/activity.hpp"

namespace tessera::simulate {

/// The work of one GPU during a simulation [s].
struct GpuUse {
  double busy = 0;      ///< time in tasks
  double last_end = 0;  ///< end of its last task, from the start of the call
  Index tasks = 0;      ///< tasks that it ran
};

/// The result of a simulation.
struct Outcome {
  std::string error;          ///< "": none
  std::string explanation;    ///< explanation of the plan, for --explain
  bool bad_argument = false;  ///< the error is caused by the arguments
  double seconds = 0;
  Index tile_m = 0, tile_n = 0, tile_k = 0;
  double predicted = 0;  ///< the plan's prediction [s]; 0: no prediction
  std::string policy, placement;
  std::vector<GpuUse> gpus;
  int cpus = 0;          ///< CPU workers
  Index core_tasks = 0;  ///< total number of tasks that they ran
  tools::Activity activity;

  int cores() const { return activity.workers - activity.gpus; }  ///< CPU workers that compute tiles
};

/// Sends the outcome, as JSON, to the process at the other end of a socket. @return whether all of it was written
bool write_outcome(int socket, const Outcome& outcome);
/// The outcome in a text that `write_outcome` has written; empty if it is not whole.
std::optional<Outcome> read_outcome(const std::string& text);

/// The descriptor of the socket between tessera-simulate and the program that it starts. Shells and programs rarely use
/// such a high number. tessera-simulate sends one letter, and libtessera_observer.so answers once, with the Outcome.
constexpr int hand_over = 198;

}  // namespace tessera::simulate
