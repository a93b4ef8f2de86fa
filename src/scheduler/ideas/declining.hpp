// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Workers leave tasks to others that are much faster.
namespace tessera::scheduler {

/// Whether a worker should leave a task to workers that are at least three times as fast, and save at least 0.5 ms. It
/// should if they would finish the task earlier, either after all submitted tasks, or after the ready tasks that
/// precede it. Of the submitted tasks, those in the chains of slower workers do not count before these workers end
/// their current tasks. If no other chain waits for the result, and the program has set the flops of all unfinished
/// tasks and suggests no home for the result, smaller tasks count less. If too few ready tasks precede a task whose
/// result others read, a core still takes it if other submitted tasks keep the faster workers busy until the core ends,
/// and the result is needed only later. While the duration on a core is unknown, GPUs measure first, then one core,
/// once GPUs have enough other work; see measuring.hpp. If only GPUs of other models know a task's duration, a GPU runs
/// one such task at a time. The duration of the first task that a core has run, which may include the time to load a
/// library, counts until the second one has ended.
bool leave_to_faster(const State& state, const Worker& worker, const Task& task);

/// Moves tasks that a worker should leave to faster workers from the front of its queue to the shared queues. Records
/// that these faster workers must be woken.
/// @param task  a task that the worker should leave; in any queue
void decline(State& state, Worker& worker, const Task& task);

}  // namespace tessera::scheduler
