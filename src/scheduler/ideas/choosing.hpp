// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Which ready task a worker reserves next.
namespace tessera::scheduler {

/// Takes the task that suits a worker best out of its own queue or a shared queue: the one whose missing tiles
/// take the least time to fetch, and among equal ones, the first by priority and submission. If the worker should leave
/// that one to faster ones, it declines it, and takes one that they would get to late, if there is one.
/// @returns null if there is none, or if it exceeds the worker's look-ahead limit
TaskPtr choose_task(State& state, Worker& worker);

/// Reserves tasks for a worker until its reservation station is full, or no task is left for it. A worker without any
/// task steals.
void fill_station(State& state, Worker& worker);

}  // namespace tessera::scheduler
