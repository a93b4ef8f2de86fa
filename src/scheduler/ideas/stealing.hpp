// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Work stealing by a worker without tasks.
namespace tessera::scheduler {

/// The worker whose ready tasks will last longest, among the workers with a task that the thief may take; null if there
/// is none.
Worker* find_victim(const State& state, const Worker& thief);

/// Moves the chain of a task that becomes ready to a GPU without work, if that GPU would end the chain clearly earlier
/// than its home, which already has another task to run. The home would otherwise take the task at once, and a worker
/// that runs few chains never has a task to steal.
void offer_to_idle(State& state, const Task& task);

/// Takes the task that is cheapest to move from the victim, together with the rest of its chain.
/// @returns  null if there is no victim, or the thief would gain nothing
TaskPtr steal(State& state, Worker& thief);

}  // namespace tessera::scheduler
