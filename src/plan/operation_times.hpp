// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

#include "machine/cost_curve.hpp"
#include "machine/machine.hpp"

namespace tessera::plan {

/// How long `detail::timed_operations` take, found out by running them on the first GPU of CUDA: as tasks one after
/// another, on square tiles of several orders.
/// @param type  s, d, c or z
/// @return  by operation: seconds of a task, with what StarPU takes from one to the next; nothing if a limit leaves the
///          GPU too little memory for these tiles
std::map<std::string, detail::CostCurve> time_operations(const detail::Machine& machine, char type);

}  // namespace tessera::plan
