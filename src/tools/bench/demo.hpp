// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench/campaign.hpp"

namespace tessera::bench {

/// Replaces what is measured by the demonstration: a DGEMM over all devices that takes about a second.
void choose_demo(Options& options, const Machine& machine, Limits& limits);

/// Measures and reports it, and tells a newcomer what was seen.
std::vector<Result> run_demo(const Options& options, const Machine& machine, Limits& limits, Report& report,
                             Progress& progress);

}  // namespace tessera::bench
