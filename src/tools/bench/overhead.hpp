// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench/options.hpp"
#include "bench/progress.hpp"

namespace tessera::bench {

/// Measures and reports what StarPU and the policy take for each of `options.overhead` independent tasks that do
/// nothing, all of them queued before the first one runs.
/// @pre no Runtime lives
void measure_overhead(const Options& options, Progress& progress);

}  // namespace tessera::bench
