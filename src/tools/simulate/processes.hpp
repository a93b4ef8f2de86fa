// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "simulate/simulation.hpp"

namespace tessera::simulate {

/// Simulates every run in its own process, several at a time. Calls `done` for each outcome in the order of the runs,
/// as early as possible. If `done` throws, the remaining simulations are stopped.
void run_all(const Options& options, const std::vector<Run>& runs, const Scratch& scratch,
             const std::function<void(const Run&, const Outcome&)>& done);

}  // namespace tessera::simulate
