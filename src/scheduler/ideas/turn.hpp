// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "state.hpp"

/// What a worker does when it asks for a task.
namespace tessera::scheduler {

struct Turn {
  TaskId task = nullptr;   ///< starts now; null: none
  bool too_large = false;  ///< the worker's memory cannot hold the tiles of the task
  Prefetches prefetches;   ///< what to request, then call `fetches_issued`
  std::vector<int> wake;   ///< sleeping workers
  double look_again = 0;   ///< after how long the worker must ask again, whatever happens [s]; 0: when it is woken
};

/// Reserves tasks for a worker, and takes the one that it starts now.
/// @pre  the worker is in the context
Turn take_turn(State& state, Worker& worker, double now);

}  // namespace tessera::scheduler
