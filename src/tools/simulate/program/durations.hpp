// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <optional>

namespace tessera::simulate {

/// The descriptor of the socket between tessera-simulate and a program that it has started. Shells and programs do not
/// usually choose this number. tessera-simulate sends one letter, and libtessera_observer.so answers once, with the
/// Outcome.
constexpr int hand_over = 198;

/// The letter, which is the type of the elements, for the process that asks first. Empty for other processes, and if
/// tessera-simulate has not started the program.
std::optional<char> ordered_type();

/// Gives the codelet of a task a performance model from the described machine, unless its model is a function. Models
/// that StarPU would first have to measure are replaced, because nothing is measured in a simulation.
void set_durations(starpu_task* task);

}  // namespace tessera::simulate
