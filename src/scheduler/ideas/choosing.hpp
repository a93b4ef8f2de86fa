// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Chooses the ready task that a worker reserves next.
namespace tessera::scheduler {

/// The rate of all workers that can execute a task, in units of this worker's rate. A core reserves only one task, so
/// while its rate is unknown it hardly takes anything from a GPU, and does not count.
double rate_of_all(const State& state, const Worker& worker, const Task& task);

/// Whether the chain of a task is one of the last, so that the longest chains should run first: alone, it takes at
/// least a sixth of the time that all workers together need for the unfinished tasks. Only chains that are independent
/// (see `is_independent`) count, whose home the program has not suggested.
/// @param rate  see `rate_of_all`
bool is_last_chain(const State& state, const Task& task, double rate);

/// Takes, from the worker's own queue or a shared queue, the task that suits the worker best by `Options::locality`;
/// among equals, the first by priority and submission. If the worker should leave this task to faster workers, it
/// declines it, and takes a task that they would reach late, if there is one.
/// @returns null if there is none, or if it exceeds the worker's look-ahead limit
TaskPtr choose_task(State& state, Worker& worker);

/// Reserves tasks for a worker until its reservation station is full or no task is left for it. A worker without any
/// task steals.
void fill_station(State& state, Worker& worker);

}  // namespace tessera::scheduler
