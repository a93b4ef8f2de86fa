// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "state.hpp"

/// Bookkeeping when a task is submitted, popped, started and ended, and the sleeping workers to wake.
namespace tessera::scheduler {

/// Records that a task has been submitted. StarPU also submits a task that continues after it was suspended (OpenMP),
/// which has been counted already.
/// @param flops  according to the program; 0: unknown
void task_submitted(State& state, TaskId task, const std::vector<TileUse>& tiles, int priority = 0, double flops = 0);

/// Queues a task that has become ready.
/// @returns  the sleeping worker to wake for it: its home, or else one that might take it; or `no_worker`
int task_ready(State& state, TaskPtr task);

/// Records that a worker has popped a task.
void task_popped(State& state, Worker& worker, ReservationStation::Slot slot);

/// Records that the tiles of a task have arrived and the task starts.
/// @param outlives  whether the runtime may report the task's end long after the worker has run it, because that end
///                  also depends on other tasks. The worker, on which these tasks may run, then does not count it as
///                  running
/// @returns  whether the worker has popped it; StarPU also starts tasks that the policy never saw
bool task_starts(State& state, TaskId task, int worker, double now, bool outlives = false);

/// Records that a task has ended.
/// @param worker  the worker that reports it; `no_worker` if the program has released the end of the task
/// @returns  the results to write back now
std::vector<TileId> task_ends(State& state, TaskId task, const std::vector<TileUse>& tiles, int worker, double now);

/// Records whether a worker has reserved tasks, but none that it can start.
void set_waits(State& state, Worker& worker, bool waits);

/// The sleeping workers to wake after a change: workers that wait for tiles, and workers to which others have left a
/// task.
/// @param caller  the worker that is awake
std::vector<int> wake_others(State& state, int caller);

}  // namespace tessera::scheduler
