// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "trace/input/paje.hpp"
#include "trace/input/run_json.hpp"
#include "trace/run.hpp"

namespace tessera::trace {

/// Fills in `nodes` and `workers`. Their names come from Tessera's description of the run or, without one, from the
/// kind of device.
/// @param workers  least number of workers: the beginning of a trace may be lost
void add_devices(Run& run, const PajeTrace& trace, const RunJson& run_json, int workers);

}  // namespace tessera::trace
