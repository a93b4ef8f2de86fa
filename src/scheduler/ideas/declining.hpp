// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Workers leave tasks to others that are much faster.
namespace tessera::scheduler {

/// Whether workers that are at least three times as fast, and 0.5 ms faster, would finish a task earlier than this
/// worker, although they run first the ready tasks that precede it, or all submitted tasks that do not wait for slower
/// workers. If the duration on a core
/// is unknown, one core measures it. The other cores leave such tasks to GPUs until it is known.
bool leave_to_faster(const State& state, const Worker& worker, const Task& task);

/// Moves tasks that a worker should leave to faster workers from the front of its queue to the shared queues. Notes
/// that sleeping workers that are faster must be woken.
/// @param task  a task that the worker should leave; in any queue
void decline(State& state, Worker& worker, const Task& task);

}  // namespace tessera::scheduler
