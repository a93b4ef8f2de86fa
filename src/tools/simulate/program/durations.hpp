// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <optional>

namespace tessera::simulate {

/// The descriptor of the socket between tessera-simulate and the program that it starts. Shells and programs rarely use
/// such a high number. tessera-simulate sends one letter, and libtessera_observer.so answers once, with the Outcome.
constexpr int hand_over = 198;

/// The type of the elements: the letter that tessera-simulate has sent. Only the first process that asks receives it.
/// Empty for all others, and without tessera-simulate.
std::optional<char> ordered_type();

/// Gives the codelet of a task a performance model from the described machine, unless its model is a function. Models
/// based on earlier runs are replaced too, because nothing is measured in a simulation.
void set_durations(starpu_task* task);

}  // namespace tessera::simulate
