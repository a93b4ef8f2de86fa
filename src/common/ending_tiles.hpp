// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>
#include <tessera/sched.h>

#include "failure.hpp"

namespace tessera::common {

/// A data interface whose tiles are forgotten when StarPU unregisters them, after the last task that uses them.
inline starpu_data_interface_ops forgotten_at_their_end(starpu_data_interface_ops ops) {
  ops.unregister_data_handle = [](starpu_data_handle_t tile) {
    take_failure(tile);
    tessera_sched_forget(tile);
  };
  return ops;
}

}  // namespace tessera::common
