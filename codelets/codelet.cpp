// SPDX-License-Identifier: BSD-3-Clause
#include "codelet.hpp"

#include <algorithm>
#include <atomic>

#include "colours.hpp"

namespace tessera::codelets {

namespace {

std::atomic<CostFunction> cost_function{nullptr};

const Work& work_of(const starpu_task* task) { return *static_cast<const Work*>(task->cl_arg); }

double cost_in_microseconds(starpu_task* task, unsigned worker, unsigned /*implementation*/) {
  const CostFunction cost = cost_function;
  if (cost == nullptr) return 0;
  return 1e6 * cost(task->cl->name, work_of(task), static_cast<int>(worker));
}

/// Hashes the type and the tile sizes, but not α and β, because StarPU assumes that tasks with equal footprints take
/// equally long. The hash ignores how much of a tall diagonal tile is computed; the cost function takes that into
/// account.
uint32_t footprint(starpu_task* task) {
  uint32_t hash = starpu_hash_crc32c_be(static_cast<uint32_t>(work_of(task).type), 0);
  for (int i = 0; i < task->nbuffers; i++) {
    auto* const tile = STARPU_TASK_GET_HANDLE(task, i);
    if (starpu_data_get_interface_id(tile) == STARPU_VARIABLE_INTERFACE_ID) continue;  // not a tile
    const auto nx = starpu_matrix_get_nx(tile), ny = starpu_matrix_get_ny(tile);
    hash = starpu_hash_crc32c_be(static_cast<uint32_t>(nx), starpu_hash_crc32c_be(static_cast<uint32_t>(ny), hash));
  }
  return hash;
}

}  // namespace

void set_cost_function(CostFunction function) { cost_function = function; }

TileOperation::TileOperation(const char* name, starpu_cpu_func_t cpu, starpu_cuda_func_t cuda,
                             starpu_opencl_func_t opencl, int host_buffer) {
  model.type = STARPU_PER_WORKER;
  model.symbol = name;
  model.worker_cost_function = cost_in_microseconds;
  model.footprint = footprint;

  codelet.name = name;
  codelet.color = colour_of(name);
  codelet.model = &model;
  codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;  // lets a task with β = 0 use STARPU_W
  codelet.cpu_funcs[0] = cpu;
  if (cuda != nullptr) {
    codelet.cuda_funcs[0] = cuda;
    codelet.cuda_flags[0] = STARPU_CUDA_ASYNC;
  }
  if (opencl != nullptr) {
    codelet.opencl_funcs[0] = opencl;
    codelet.opencl_flags[0] = STARPU_OPENCL_ASYNC;
  }
  if (host_buffer < 0) return;
  codelet.specific_nodes = 1;
  std::ranges::fill(codelet.nodes, STARPU_SPECIFIC_NODE_LOCAL);
  codelet.nodes[host_buffer] = STARPU_SPECIFIC_NODE_CPU;
}

}  // namespace tessera::codelets
