// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench/campaign.hpp"

namespace tessera::bench {

/// Replaces the problems of `options` by the demonstration: a DGEMM over all devices that takes about a second.
void choose_demo(Options& options, const Machine& machine, Limits& limits);

/// Measures and reports the demonstration, then explains the results to a newcomer.
std::vector<Result> run_demo(const Options& options, const Machine& machine, Limits& limits, Report& report,
                             Progress& progress);

}  // namespace tessera::bench
