// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Predicts when workers will end tasks. Tasks of unknown duration count as if they took no time.
namespace tessera::scheduler {

/// The time until a worker has ended the tasks that it has popped [s].
double seconds_until_free(const State& state, const Worker& worker);

/// The time until a worker has ended a task, if it first runs the tasks that it has popped, and those of its own queue
/// and station that run before this one [s].
/// @param enough  a longer time need not be known exactly, so long queues cost little [s]
/// @return  infinity if very many tasks run before this one
double seconds_until_ended(const State& state, const Worker& worker, const Task& task, double enough);

/// A worker is clearly better than another one if it is by this factor: durations are only predicted.
inline constexpr double clearly = 1.25;

/// The first task that needs a tile of a task, as a position in the order of submission; 0: none. The next tasks of its
/// chain do not count, unless they or the task write other tiles, too.
unsigned long needed_first(const State& state, const Task& task);

/// The time that the GPUs need for the tasks that come before the first one that needs a tile of a task, or for all
/// others if there is none [s]; 0 if tasks do not run in the order of submission.
double seconds_until_needed(const State& state, const Task& task);

}  // namespace tessera::scheduler
