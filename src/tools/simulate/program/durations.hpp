// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

namespace tessera::simulate {

/// Gives the codelet of a task a performance model from the described machine, unless it has a function for that.
/// Models that StarPU would have to measure first are replaced: nothing is measured in a simulation.
void set_durations(starpu_task* task);

}  // namespace tessera::simulate
