// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

/// The workers of the running StarPU that drive GPUs for Tessera: those of CUDA, or those of OpenCL if there are none.
namespace tessera::detail::gpu_workers {

/// Whether the GPUs are OpenCL devices.
inline bool are_opencl() { return starpu_cuda_worker_get_count() == 0 && starpu_opencl_worker_get_count() > 0; }

inline starpu_worker_archtype type() { return are_opencl() ? STARPU_OPENCL_WORKER : STARPU_CUDA_WORKER; }
inline unsigned count() { return starpu_worker_get_count_by_type(type()); }

/// Whether a worker or a memory node is one of a GPU.
inline bool is_gpu(int worker) { return starpu_worker_get_type(worker) == type(); }
inline bool is_gpu_memory(unsigned node) {
  return starpu_node_get_kind(node) == (are_opencl() ? STARPU_OPENCL_RAM : STARPU_CUDA_RAM);
}

}  // namespace tessera::detail::gpu_workers
