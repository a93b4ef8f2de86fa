// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "paje.hpp"
#include "tiles.hpp"
#include "trace/run.hpp"

namespace tessera::trace {

/// Fills in `transfers`: those of tiles that the tasks use, and all others since the first task was submitted.
/// @pre  workers, nodes and tasks are there; all times are the trace's
void add_transfers(Run& run, const PajeTrace& trace, Tiles& tiles);

}  // namespace tessera::trace
