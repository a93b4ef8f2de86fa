// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench/options.hpp"
#include "bench/progress.hpp"

namespace tessera::bench {

/// Measures and reports the cost of `options.overhead` independent empty tasks in StarPU and in the policy. All tasks
/// are queued before the first one runs.
/// @pre no Runtime exists
void measure_overhead(const Options& options, Progress& progress);

}  // namespace tessera::bench
