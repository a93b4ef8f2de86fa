// SPDX-License-Identifier: BSD-3-Clause
#include "solver.hpp"

#include <starpu.h>

#include <array>
#include <cstddef>
#include <limits>

#include "lanes.hpp"
#include "on_cuda.hpp"

namespace tessera::device::cuda {

namespace {

std::array<Solver, STARPU_NMAXWORKERS> solvers{};

/// Workspace for factorizations, in addition to that of the lane.
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};
std::array<Workspace, STARPU_NMAXWORKERS> workspaces{};

Workspace& my_workspace() { return workspaces[static_cast<std::size_t>(starpu_worker_get_id_check())]; }
Solver& my_solver() { return solvers[static_cast<std::size_t>(starpu_worker_get_id_check())]; }

void stop(Solver& solver) {
  if (solver.handle != nullptr) cusolverDnDestroy(solver.handle);
  if (solver.info != nullptr) cudaFreeHost(solver.info);
  if (solver.exchange != nullptr) cudaFree(solver.exchange);
  solver = {};
}

void destroy_local_solver(void* /*unused*/) {
  destroy_local_lanes();
  cudaFree(my_workspace().data);
  my_workspace() = {};
  stop(my_solver());
}

/// Clears the exchange on the current stream, which does not wait for the default stream.
bool clear_exchange(Solver& solver) {
  solver.epoch = 0;
  return check("cudaMemset", cudaMemsetAsync(solver.exchange, 0, leaf_exchange_bytes(), local_stream()));
}

bool start(Solver& solver) {
  void* info = nullptr;
  if (!check("starting cuSOLVER", cusolverDnCreate(&solver.handle)) ||
      !check("cusolverDnSetStream", cusolverDnSetStream(solver.handle, starpu_cuda_get_local_stream())) ||
      !check("cudaHostAlloc", cudaHostAlloc(&info, sizeof *solver.info, cudaHostAllocPortable)))
    return false;
  solver.info = static_cast<int*>(info);
  return check("cudaMalloc", cudaMalloc(&solver.exchange, leaf_exchange_bytes())) && clear_exchange(solver);
}

void use_stream(const Solver& solver, Stream stream) {
  if (solver.handle != nullptr) check("cusolverDnSetStream", cusolverDnSetStream(solver.handle, stream));
}

}  // namespace

Solver& local_solver() {
  auto& solver = my_solver();
  if (solver.handle == nullptr && !start(solver)) stop(solver);  // the next task will try again
  return solver;
}

std::uint32_t next_epoch(Solver& solver) {
  if (solver.epoch > std::numeric_limits<std::uint32_t>::max() - 2 * epochs_of_a_leaf) clear_exchange(solver);
  return solver.epoch += epochs_of_a_leaf;
}

SolverOnLane::SolverOnLane() { use_stream(local_solver(), local_stream()); }
SolverOnLane::~SolverOnLane() { use_stream(my_solver(), starpu_cuda_get_local_stream()); }

void* solver_workspace(std::size_t bytes) {
  if (bytes <= workspace_bytes) return local_workspace();
  auto& [data, size] = my_workspace();
  if (bytes <= size) return data;
  cudaFree(data);  // waits for the kernels that use it
  data = nullptr, size = 0;
  check("cudaMalloc", cudaMalloc(&data, bytes));
  if (data != nullptr) size = bytes;
  return data;
}

void destroy_solvers() { starpu_execute_on_each_worker(destroy_local_solver, nullptr, STARPU_CUDA); }

}  // namespace tessera::device::cuda
