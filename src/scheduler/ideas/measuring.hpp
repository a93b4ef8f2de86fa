// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "state.hpp"

/// Workers measure tasks of unknown duration. On a core, a measurement may take longer than all other work, so GPUs
/// measure first, and a core measures only if the expected delay is small.
namespace tessera::scheduler {

/// Whether a worker has reserved or popped a similar task (same codelet and size class), which is assumed to take
/// equally long. When that task ends, the duration of this one will be known, too.
bool is_measuring(const Worker& worker, const Task& task);

/// Whether another worker of the same kind is measuring such a task.
bool is_being_measured(const State& state, const Worker& worker, const Task& task);

/// For how long GPUs must have other work before a core may measure a task [s]; 0: the arithmetic of the task is
/// unknown. If cores have run tasks with at least a 64th of its arithmetic, this is its time at the lowest rate among
/// these, less the budget. Otherwise, it is the time that a core takes if it reads an operand of each multiplication
/// from memory, which is at least as fast as a link to a GPU, or the least time for which the budget covers the
/// expected delay.
/// @param gpus     the workers that can execute the task much faster
/// @param seconds  time that the fastest of them needs
double work_beside_measurement(const State& state, const Task& task, const std::vector<const Worker*>& gpus,
                               double seconds);

/// The time that GPUs may wait for cores that measure [s]: a twentieth of the time that each GPU has computed, on
/// average, less the time that measurements have taken. While a core measures, there is none.
double measuring_budget(const State& state);

/// Records the duration of a task that has ended, and that cores must be woken if they may now run such tasks.
void note_measurement(State& state, const Worker& worker, const Worker::Popped& ended, double seconds);

}  // namespace tessera::scheduler
