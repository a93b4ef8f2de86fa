// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "state.hpp"

/// Bookkeeping when a task is submitted, popped, started and ended, and the sleeping workers to wake.
namespace tessera::scheduler {

/// A task has been submitted.
void task_submitted(State& state, TaskId task, const std::vector<TileUse>& tiles);

/// A task is ready and is queued.
/// @returns  the sleeping worker to wake for it: its home, or else one that might take it; or `no_worker`
int task_ready(State& state, TaskPtr task);

/// A worker has popped a task.
void task_popped(State& state, Worker& worker, ReservationStation::Slot slot);

/// A task starts, because its tiles have arrived.
/// @param outlives  whether the runtime may report its end long after the worker has run it, namely when other tasks
///                  have ended, which may even run on the same worker. The worker does not wait for that end
/// @returns  whether the worker has popped it; StarPU also starts tasks that the policy never saw
bool task_starts(State& state, TaskId task, int worker, double now, bool outlives = false);

/// A task has ended.
/// @param worker  the worker that reports it; `no_worker`: none, because the program has released the task's end
/// @returns  the results to write back now
std::vector<TileId> task_ends(State& state, TaskId task, const std::vector<TileUse>& tiles, int worker, double now);

/// Notes whether a worker has reserved tasks, but none that it can start.
void set_waits(State& state, Worker& worker, bool waits);

/// The sleeping workers to wake after a change: workers that wait for tiles, and workers to which others have left a
/// task.
/// @param caller  the worker that is awake
std::vector<int> wake_others(State& state, int caller);

}  // namespace tessera::scheduler
