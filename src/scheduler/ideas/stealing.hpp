// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// What a worker without tasks takes from another worker.
namespace tessera::scheduler {

/// The worker that will be busy longest with its ready tasks, among those that have a task which the thief may take.
/// Null: there is none.
Worker* find_victim(const State& state, const Worker& thief);

/// Takes the task that costs least to move from the victim, with the rest of its chain.
/// @returns null if there is no victim, or if the thief would gain nothing
TaskPtr steal(State& state, Worker& thief);

}  // namespace tessera::scheduler
