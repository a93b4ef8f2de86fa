// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <vector>

/// The workers of the running StarPU through which Tessera uses GPUs.
namespace tessera::device::gpu_workers {

/// Whether OpenCL workers count in addition to CUDA workers. In a StarPU started by the program they do not, because
/// such a StarPU may drive one GPU through both.
inline std::atomic<bool> opencl_beside_cuda = false;

/// Whether Tessera uses workers of this type to drive GPUs.
inline bool uses(starpu_worker_archtype type) {
  return type == STARPU_CUDA_WORKER ||
         (type == STARPU_OPENCL_WORKER && (opencl_beside_cuda || starpu_cuda_worker_get_count() == 0));
}

/// The workers of a type, if Tessera uses them to drive GPUs; otherwise empty.
inline std::vector<int> of(starpu_worker_archtype type) {
  if (!uses(type)) return {};
  std::vector<int> workers(static_cast<std::size_t>(starpu_worker_get_count_by_type(type)));
  starpu_worker_get_ids_by_type(type, workers.data(), static_cast<unsigned>(workers.size()));
  return workers;
}

inline std::size_t count() { return of(STARPU_CUDA_WORKER).size() + of(STARPU_OPENCL_WORKER).size(); }

/// Whether a worker, or a memory node, belongs to a GPU.
inline bool is_gpu(int worker) { return uses(starpu_worker_get_type(worker)); }
inline bool is_gpu_memory(unsigned node) {
  const auto kind = starpu_node_get_kind(node);
  return kind == STARPU_CUDA_RAM || (kind == STARPU_OPENCL_RAM && uses(STARPU_OPENCL_WORKER));
}

}  // namespace tessera::device::gpu_workers
