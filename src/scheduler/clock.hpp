// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

namespace tessera::scheduler {

/// Seconds, in simulated time where there is such.
inline double now() { return 1e-6 * starpu_timing_now(); }

}  // namespace tessera::scheduler
