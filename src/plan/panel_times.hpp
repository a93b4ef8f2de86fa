// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

#include "machine/cost_curve.hpp"
#include "machine/machine.hpp"

namespace tessera::plan {

/// Adds the operations on panels to those that `time_operations` measures. For a factorization, the name also has the
/// columns of the panel, as in "getrf 256", and the curve is a function of its rows.
/// @return  whether all have succeeded
bool time_panels(const detail::Machine& machine, char type, std::map<std::string, detail::CostCurve>& curves);

}  // namespace tessera::plan
