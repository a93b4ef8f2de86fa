// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Where a ready task waits: at its home, or in a shared queue.
namespace tessera::scheduler {

/// Determines which members of the context can execute a task, and sets `kinds` and `workers`.
void find_executors(const State& state, Task& task);

/// Gives the chain of a ready task a home if it has none, others wait for the task's result, and a GPU that has all its
/// tiles will end the task earlier than the GPUs that lack some could, even if these started at once. For a short task,
/// moving the tiles takes longer than waiting for the GPU that has them.
void choose_home(State& state, const Task& task);

/// Moves the last task of a chain from its home, a GPU with other tasks, to a worker of another model that suits it
/// clearly better than these. For example, the worker takes 5 times as long as the home for a product, but only 1.4
/// times as long for a solve; it then runs fewer products, and the home many more. The time to move the tiles counts,
/// and the worker must end the task long before its result is needed. A program that suggests homes has distributed the
/// chains itself.
void leave_chain(State& state, const Task& task);

/// Queues a ready task at its home if that worker is present and can execute the task, otherwise in a shared queue.
/// @pre  `find_executors` was called
void place(State& state, TaskPtr task);

/// Queues a task again: one that a worker gives back, or one that was queued when other workers could execute it.
/// Records that sleeping workers must be woken.
void place_again(State& state, TaskPtr task);

/// Queues a ready task where every worker that can execute it may take it.
void share(State& state, TaskPtr task);

}  // namespace tessera::scheduler
