// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "trace/input/paje.hpp"
#include "trace/input/run_json.hpp"
#include "trace/run.hpp"

namespace tessera::trace {

/// Fills in `nodes` and `workers`. Names come from Tessera's description of the run or, without one, from the kind of
/// device.
/// @param workers  minimum number of workers: the beginning of the trace, which lists them, may be lost
void add_devices(Run& run, const PajeTrace& trace, const RunJson& run_json, int workers);

}  // namespace tessera::trace
