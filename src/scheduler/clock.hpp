// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

namespace tessera::scheduler {

/// The current time of StarPU's clock [s], which is simulated time in a simulation.
inline double now() { return 1e-6 * starpu_timing_now(); }

}  // namespace tessera::scheduler
