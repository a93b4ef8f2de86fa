// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench/options.hpp"
#include "bench/progress.hpp"

namespace tessera::bench {

/// Measures the host's share of copies of pageable memory: how fast a number of threads copies within the host, and how
/// many copies per second the queues handle. Needs no GPU.
void measure_host_copies(const Options& options, Progress& progress);

}  // namespace tessera::bench
