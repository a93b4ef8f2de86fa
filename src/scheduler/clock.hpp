// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

namespace tessera::scheduler {

/// The time by StarPU's clock [s]. In a simulation, that is simulated time.
inline double now() { return 1e-6 * starpu_timing_now(); }

}  // namespace tessera::scheduler
