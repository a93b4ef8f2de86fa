// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

namespace tessera::scheduler {

/// See `tessera_sched_wont_use`.
void wont_use(starpu_data_handle_t tile);

}  // namespace tessera::scheduler
