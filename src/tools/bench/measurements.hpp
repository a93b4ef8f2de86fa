// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "bench/bench_options.hpp"
#include "bench/bench_report.hpp"
#include "bench/timing.hpp"

namespace tessera::bench {

/// Measures everything that `options` asks for and reports each measurement when it is done.
/// @pre no Runtime exists, and `limits` holds the limits of all these problems
std::vector<Result> run_campaign(const Options& options, const Machine& machine, const Limits& limits, Report& report,
                                 Progress& progress);

/// Measures the limits that the problems of `options` are compared with.
void measure_limits(const Options& options, Limits& limits);

/// Replaces the problems of `options` by the demonstration: a DGEMM over all devices that takes about a second.
void choose_demo(Options& options, const Machine& machine, Limits& limits);

/// Measures and reports the demonstration, then explains the results to a newcomer.
std::vector<Result> run_demo(const Options& options, const Machine& machine, Limits& limits, Report& report,
                             Progress& progress);

/// Measures and reports the cost of `options.overhead` independent empty tasks in StarPU and in the policy. All tasks
/// are queued before the first one runs.
/// @pre no Runtime exists
void measure_overhead(const Options& options, Progress& progress);

/// Measures the host's share of copies of pageable memory: how fast a number of threads copies within the host, and how
/// many copies per second the queues handle. Needs no GPU.
void measure_host_copies(const Options& options, Progress& progress);

}  // namespace tessera::bench
