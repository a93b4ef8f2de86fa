// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "bench/report.hpp"

namespace tessera::bench {

/// Measures everything that `options` asks for and reports each measurement as it comes.
/// @pre no Runtime lives, and `limits` has been measured for all of it
std::vector<Result> run_campaign(const Options& options, const Machine& machine, const Limits& limits, Report& report,
                                 Progress& progress);

/// Measures the limits that `options` will be compared with.
void measure_limits(const Options& options, Limits& limits);

}  // namespace tessera::bench
