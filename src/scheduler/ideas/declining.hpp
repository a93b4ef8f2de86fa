// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Workers that are much slower than others leave tasks to them.
namespace tessera::scheduler {

/// Whether workers that are at least three times, and 0.5 ms, faster in a task will finish it before this worker would:
/// after the ready tasks that come before it, or after everything that is submitted and does not wait for slower ones.
/// How long a core needs for a task of a new kind is measured by one core. The others leave such tasks to GPUs until
/// it is known.
bool leave_to_faster(const State& state, const Worker& worker, const Task& task);

/// Moves the tasks at the front of a worker's queue that it should leave to faster workers to the shared queues. Notes
/// that sleeping workers which are faster in a task must be woken.
/// @param task  one that the worker should leave; in any queue
void decline(State& state, Worker& worker, const Task& task);

}  // namespace tessera::scheduler
