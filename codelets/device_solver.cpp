// SPDX-License-Identifier: BSD-3-Clause
#include "device_solver.hpp"

#include <starpu.h>

#include <array>
#include <complex>
#include <cstddef>

#include "kernel.hpp"

namespace tessera::device {

namespace {

std::array<Solver, STARPU_NMAXWORKERS> solvers{};

Solver& mine() { return solvers[static_cast<std::size_t>(starpu_worker_get_id_check())]; }

}  // namespace

const Solver& local_solver() {
  auto& solver = mine();
  if (solver.handle != nullptr) return solver;
  codelets::check("starting cuSOLVER", cusolverDnCreate(&solver.handle));
  if (solver.handle == nullptr) return solver;
  codelets::check("cusolverDnSetStream", cusolverDnSetStream(solver.handle, starpu_cuda_get_local_stream()));
  codelets::check("cudaHostAlloc", cudaHostAlloc(&solver.diagonal, longest_diagonal * sizeof(std::complex<double>),
                                                 cudaHostAllocPortable));
  void* info = nullptr;
  codelets::check("cudaHostAlloc", cudaHostAlloc(&info, sizeof *solver.info, cudaHostAllocPortable));
  solver.info = static_cast<int*>(info);
  return solver;
}

void destroy_solver() {
  auto& solver = mine();
  if (solver.handle != nullptr) cusolverDnDestroy(solver.handle);
  if (solver.diagonal != nullptr) cudaFreeHost(solver.diagonal);
  if (solver.info != nullptr) cudaFreeHost(solver.info);
  solver = {};
}

}  // namespace tessera::device
