// SPDX-License-Identifier: BSD-3-Clause
// In a grid with GPUs there is one CPU worker, as in a single process: others would slow down the threads that drive
// them.
#include <starpu.h>

#include <cstdio>

#include <tessera/distributed.hpp>
#include <tessera/runtime.hpp>

int main() {
  const tessera::Grid grid(1, 1);
  std::printf("%d GPUs, %u CPU workers\n", tessera::gpu_count(), starpu_cpu_worker_get_count());
  return tessera::gpu_count() > 0 && starpu_cpu_worker_get_count() == 1 ? 0 : 1;
}
