// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Where a ready task waits: with its home, or in a shared queue.
namespace tessera::scheduler {

/// Finds out which members of the context can execute a task: sets `kinds` and `workers`.
void find_executors(const State& state, Task& task);

/// Queues a ready task at its home, if that worker is present and can execute the task, else in a shared queue.
/// `find_executors` must have been called.
void place(State& state, TaskPtr task);

/// The same for a task that a worker gives back, or that was queued when others could execute it. Notes that sleeping
/// workers must be woken.
void place_again(State& state, TaskPtr task);

/// Queues a ready task where any worker that can execute it may take it.
void share(State& state, TaskPtr task);

}  // namespace tessera::scheduler
