// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// The policy's statistics.
namespace tessera::scheduler {

/// Counts, when a worker reserves a task, where the tiles that the task reads are.
void count_hits(State& state, const Worker& worker, const Task& task);

/// Adds the time since the last call to the idle time of a worker that runs no task, by cause.
void count_idle(State& state, Worker& worker, double now);

/// The counts up to now.
const tessera_sched_counts& count_until(State& state, double now);

}  // namespace tessera::scheduler
