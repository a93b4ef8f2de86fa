// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "state.hpp"

/// What a worker does when it asks for a task.
namespace tessera::scheduler {

struct Turn {
  TaskId task = nullptr;   ///< start it now; null: none
  bool too_large = false;  ///< the worker's memory cannot hold the tiles of the task
  Prefetches prefetches;   ///< to request, followed by a call of `fetches_issued`
  std::vector<int> wake;   ///< sleeping workers to wake
  double look_again = 0;   ///< time after which the worker must ask again in any case [s]; 0: only when it is woken
};

/// Reserves tasks for a worker, and takes the task to start now.
/// @pre  the worker is in the context
Turn take_turn(State& state, Worker& worker, double now);

}  // namespace tessera::scheduler
