// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench/options.hpp"
#include "bench/progress.hpp"

namespace tessera::bench {

/// Measures what copies of pageable memory need of the host: how its memory's rate grows with the threads that copy,
/// and how many copies a second their queues carry. Needs no GPU.
void measure_host_copies(const Options& options, Progress& progress);

}  // namespace tessera::bench
