// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "trace/input/paje.hpp"
#include "trace/input/tiles.hpp"
#include "trace/run.hpp"

namespace tessera::trace {

/// Fills in `transfers`: all transfers of tiles that tasks use, and all other transfers after the first submission.
/// @pre  `run` has its workers, nodes and tasks, with the times of the trace
void add_transfers(Run& run, const PajeTrace& trace, Tiles& tiles);

}  // namespace tessera::trace
