// SPDX-License-Identifier: BSD-3-Clause
// A grid with GPUs has a single CPU worker, as a single process has: more would slow down the threads that drive the
// GPUs.
#include <starpu.h>

#include <cstdio>

#include <tessera/distributed.hpp>
#include <tessera/runtime.hpp>

int main() {
  const tessera::Grid grid(1, 1);
  std::printf("%d GPUs, %u CPU workers\n", tessera::gpu_count(), starpu_cpu_worker_get_count());
  return tessera::gpu_count() > 0 && starpu_cpu_worker_get_count() == 1 ? 0 : 1;
}
