// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "simulate/simulation.hpp"

namespace tessera::simulate {

/// Simulates every run in a process of its own, several at a time, and calls `done` in the order of the runs, as soon
/// as one and all before it are there. The others are stopped when `done` throws.
void run_all(const Options& options, const std::vector<Run>& runs, const Scratch& scratch,
             const std::function<void(const Run&, const Outcome&)>& done);

}  // namespace tessera::simulate
