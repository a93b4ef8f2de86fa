// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

namespace tessera::runtime {

/// Waits for the tasks of all threads in all scheduling contexts, also for those that are submitted meanwhile. StarPU's
/// own wait is for the context that the calling thread has set, if it has set one.
inline void wait_for_all_tasks() {
  unsigned context = starpu_sched_ctx_get_context();
  starpu_sched_ctx_set_context(nullptr);
  starpu_task_wait_for_all();
  if (context != STARPU_NMAX_SCHED_CTXS) starpu_sched_ctx_set_context(&context);
}

}  // namespace tessera::runtime
