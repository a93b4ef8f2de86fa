// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <optional>

namespace tessera::simulate {

/// The descriptor of the socket between tessera-simulate and a program that it has started: none that shells and
/// programs choose. tessera-simulate sends one letter, libtessera_observer.so answers once, with the Outcome.
constexpr int hand_over = 198;

/// The letter, the type of the elements, for the process that asks first; nothing for others, and if tessera-simulate
/// has not started the program.
std::optional<char> ordered_type();

/// Gives the codelet of a task a performance model from the described machine, unless it has a function for that.
/// Models that StarPU would have to measure first are replaced: nothing is measured in a simulation.
void set_durations(starpu_task* task);

}  // namespace tessera::simulate
