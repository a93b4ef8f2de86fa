// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <cstdint>

#include "machine/machine.hpp"

namespace tessera::sinks {

/// The kinds of GPU on this machine that implement a tile operation: STARPU_CUDA, STARPU_OPENCL, both, or 0 for none.
inline std::uint32_t kinds_of_gpus(const starpu_codelet& codelet, const machine::Machine& machine) {
  std::uint32_t kinds = 0;
  if (machine.has_cuda() && codelet.cuda_funcs[0] != nullptr) kinds |= STARPU_CUDA;
  if (machine.has_opencl() && codelet.opencl_funcs[0] != nullptr) kinds |= STARPU_OPENCL;
  return kinds;
}

/// The worker of an owner. OpenCL devices lack some operations; a CUDA GPU then stands in for the owner.
/// @param owner  GPUs are numbered first, then the cores that share results with them
/// @param kinds  the kinds of GPU that implement the operation
inline int worker_of(int owner, std::uint32_t kinds, const machine::Machine& machine) {
  if (const int core = owner - machine.gpu_count(); core >= 0)
    return machine.sharing_cores[static_cast<std::size_t>(core)];
  if (machine.is_opencl(owner) && (kinds & STARPU_OPENCL) == 0) owner %= machine.cuda_gpus;
  return machine.gpu_workers[static_cast<std::size_t>(owner)].front();
}

}  // namespace tessera::sinks
