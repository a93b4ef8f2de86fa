// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// The policy's statistics.
namespace tessera::scheduler {

/// Counts where the tiles are that a task reads, when a worker reserves it.
void count_hits(State& state, const Worker& worker, const Task& task);

/// Adds the time since the last call to the idle time of a worker that runs no task, by its cause.
void count_idle(State& state, Worker& worker, double now);

/// What has been counted until now.
const tessera_sched_counts& count_until(State& state, double now);

}  // namespace tessera::scheduler
