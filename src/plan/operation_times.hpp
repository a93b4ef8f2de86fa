// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

#include "devices/cost_curve.hpp"
#include "machine/machine.hpp"

namespace tessera::plan {

/// Measures how long `machine::timed_operations` take on the first CUDA GPU, as consecutive tasks on square tiles of
/// several orders.
/// @param type  s, d, c or z
/// @return  by operation: seconds of a task, including StarPU's overhead between tasks; empty if a memory limit leaves
///          no room for these tiles on the GPU
std::map<std::string, device::CostCurve> time_operations(const machine::Machine& machine, char type);

}  // namespace tessera::plan
