// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Chooses the ready task that a worker reserves next.
namespace tessera::scheduler {

/// Takes, from the worker's own queue or a shared queue, the task that suits the worker best by `Options::locality`;
/// among equals, the first by priority and submission. If the worker should leave this task to faster workers, it
/// declines it, and takes a task that they would reach late, if there is one.
/// @returns null if there is none, or if it exceeds the worker's look-ahead limit
TaskPtr choose_task(State& state, Worker& worker);

/// Reserves tasks for a worker until its reservation station is full or no task is left for it. A worker without any
/// task steals.
void fill_station(State& state, Worker& worker);

}  // namespace tessera::scheduler
