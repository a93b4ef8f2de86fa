// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Workers that are much slower than others leave tasks to them.
namespace tessera::scheduler {

/// Whether faster workers will have finished everything that is submitted before this worker would finish the task.
bool leave_to_faster(const State& state, const Worker& worker, const Task& task);

/// Moves the tasks at the front of a worker's queue that it should leave to faster workers to the shared queues.
void decline(State& state, Worker& worker);

}  // namespace tessera::scheduler
