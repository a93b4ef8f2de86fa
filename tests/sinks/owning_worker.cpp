// SPDX-License-Identifier: BSD-3-Clause
// Which GPUs execute a task on a machine with CUDA GPUs and OpenCL devices.
#include "sinks/owning_worker.hpp"

#include <gtest/gtest.h>

namespace tessera::test::owning_worker_cpp {
namespace {

using sinks::kinds_of_gpus;
using sinks::worker_of;

void nothing(void* /*buffers*/[], void* /*args*/) {}

starpu_codelet with(bool cuda, bool opencl) {
  starpu_codelet codelet{};
  codelet.cpu_funcs[0] = nothing;
  if (cuda) codelet.cuda_funcs[0] = nothing;
  if (opencl) codelet.opencl_funcs[0] = nothing;
  return codelet;
}

/// CUDA GPUs with workers 10, 11, …; OpenCL devices with workers 20, 21, …; and two cores, 30 and 31.
machine::Machine machine_with(int cuda, int opencl) {
  machine::Machine machine;
  machine.cuda_gpus = cuda;
  for (int i = 0; i < cuda; i++) machine.gpus.push_back(i), machine.gpu_workers.push_back({10 + i});
  for (int i = 0; i < opencl; i++) machine.gpus.push_back(i), machine.gpu_workers.push_back({20 + i});
  machine.sharing_cores = {30, 31};
  return machine;
}

TEST(OwningWorker, KindsMustImplementTheOperation) {
  const auto both = machine_with(1, 1);
  EXPECT_EQ(kinds_of_gpus(with(true, true), both), STARPU_CUDA | STARPU_OPENCL);
  EXPECT_EQ(kinds_of_gpus(with(true, false), both), STARPU_CUDA);
  EXPECT_EQ(kinds_of_gpus(with(false, false), both), 0u);
  EXPECT_EQ(kinds_of_gpus(with(true, true), machine_with(2, 0)), STARPU_CUDA);
  EXPECT_EQ(kinds_of_gpus(with(true, true), machine_with(0, 2)), STARPU_OPENCL);
  EXPECT_EQ(kinds_of_gpus(with(true, false), machine_with(0, 2)), 0u);
  EXPECT_EQ(kinds_of_gpus(with(true, true), machine_with(0, 0)), 0u);
}

TEST(OwningWorker, IsThatOfTheGpuOrOfTheCore) {
  const auto machine = machine_with(2, 2);
  for (const auto& [owner, worker] : {std::pair{0, 10}, {1, 11}, {2, 20}, {3, 21}, {4, 30}, {5, 31}})
    EXPECT_EQ(worker_of(owner, STARPU_CUDA | STARPU_OPENCL, machine), worker);
}

TEST(OwningWorker, IsOneOfCudaIfOpenClLacksTheOperation) {
  const auto machine = machine_with(2, 3);
  for (const auto& [owner, worker] : {std::pair{0, 10}, {1, 11}, {2, 10}, {3, 11}, {4, 10}, {5, 30}})
    EXPECT_EQ(worker_of(owner, STARPU_CUDA, machine), worker);
}

}  // namespace
}  // namespace tessera::test::owning_worker_cpp
