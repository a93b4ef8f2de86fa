// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "paje.hpp"
#include "run_json.hpp"
#include "trace/run.hpp"

namespace tessera::trace {

/// Fills in `nodes` and `workers`: with their names if Tessera has recorded the run, else by the kind of device.
/// @param workers  how many there are at least: a trace may have lost its beginning
void add_devices(Run& run, const PajeTrace& trace, const Described& described, int workers);

}  // namespace tessera::trace
