// SPDX-License-Identifier: BSD-3-Clause
// Functions that CUDA calls on threads of its own.
#include <cuda_runtime.h>
#include <sched.h>
#include <starpu.h>

#include <algorithm>
#include <vector>

#include "codelets/kernel.hpp"
#include "support/runtime.hpp"

namespace tessera::test::host_functions_cpp {
namespace {

const auto* const runtime = share_runtime();

int count_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  return CPU_COUNT(&cores);
}

/// Workers create these threads, which would share the core of a worker that polls.
TEST(HostFunctions, LeaveTheCoreOfTheirWorker) {
  if (count_cores() == 1) GTEST_SKIP() << "one core";
  std::vector<int> found(STARPU_NMAXWORKERS);
  starpu_execute_on_each_worker(
      [](void* counts) {
        auto& mine = static_cast<int*>(counts)[starpu_worker_get_id()];
        device::then_on_host(device::cuda::local_stream(), [&mine] { mine = count_cores(); });
        EXPECT_EQ(cudaStreamSynchronize(device::cuda::local_stream()), cudaSuccess);
      },
      found.data(), STARPU_CUDA);
  std::erase(found, 0);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(*std::ranges::min_element(found), count_cores());
}

}  // namespace
}  // namespace tessera::test::host_functions_cpp
