// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "bench/report.hpp"

namespace tessera::bench {

/// Measures everything that `options` asks for and reports each measurement when it is done.
/// @pre no Runtime exists, and `limits` holds the limits of all these problems
std::vector<Result> run_campaign(const Options& options, const Machine& machine, const Limits& limits, Report& report,
                                 Progress& progress);

/// Measures the limits that the problems of `options` are compared with.
void measure_limits(const Options& options, Limits& limits);

}  // namespace tessera::bench
