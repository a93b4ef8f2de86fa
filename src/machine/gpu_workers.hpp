// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <vector>

/// The workers of the running StarPU that drive GPUs for Tessera.
namespace tessera::detail::gpu_workers {

/// Whether OpenCL workers count beside those of CUDA: not in a StarPU of the program, which may drive a GPU by both.
inline std::atomic<bool> opencl_beside_cuda = false;

/// Whether workers of this type drive GPUs for Tessera, if there are any.
inline bool uses(starpu_worker_archtype type) {
  return type == STARPU_CUDA_WORKER ||
         (type == STARPU_OPENCL_WORKER && (opencl_beside_cuda || starpu_cuda_worker_get_count() == 0));
}

/// The workers of a type, if they drive GPUs for Tessera.
inline std::vector<int> of(starpu_worker_archtype type) {
  if (!uses(type)) return {};
  std::vector<int> workers(static_cast<std::size_t>(starpu_worker_get_count_by_type(type)));
  starpu_worker_get_ids_by_type(type, workers.data(), static_cast<unsigned>(workers.size()));
  return workers;
}

inline std::size_t count() { return of(STARPU_CUDA_WORKER).size() + of(STARPU_OPENCL_WORKER).size(); }

/// Whether a worker or a memory node is one of a GPU.
inline bool is_gpu(int worker) { return uses(starpu_worker_get_type(worker)); }
inline bool is_gpu_memory(unsigned node) {
  const auto kind = starpu_node_get_kind(node);
  return kind == STARPU_CUDA_RAM || (kind == STARPU_OPENCL_RAM && uses(STARPU_OPENCL_WORKER));
}

}  // namespace tessera::detail::gpu_workers
