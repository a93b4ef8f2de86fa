// SPDX-License-Identifier: BSD-3-Clause
// A session on the second GPU creates no CUDA context on the first one, which would take half a gigabyte there. Each
// process of a node has such a session. One test, because contexts stay until the process ends.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <starpu.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/matrix.hpp>
#include <tessera/pinned.hpp>
#include <tessera/runtime.hpp>

#include "devices/gpu.hpp"
#include "devices/peer_memory.hpp"
#include "support/environment.hpp"
#include "support/files.hpp"

namespace tessera::test {
namespace {

/// A function of CUDA's driver.
template <typename Function>
Function* of_driver(const char* name) {
  auto* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  void* const function = driver != nullptr ? dlsym(driver, name) : nullptr;
  if (function == nullptr) throw std::runtime_error(std::string("the driver lacks ") + name);
  return reinterpret_cast<Function*>(function);
}

bool has_context(int device) {
  unsigned flags = 0;
  int active = -1;
  EXPECT_EQ(of_driver<decltype(cuDevicePrimaryCtxGetState)>("cuDevicePrimaryCtxGetState")(device, &flags, &active),
            CUDA_SUCCESS);
  return active != 0;
}

/// The current device, which is always the first one here.
int current() {
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  return device;
}

TEST(Contexts, AreOnlyOnTheGpusOfTheSession) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2) GTEST_SKIP() << "one GPU";
  ASSERT_EQ(current(), 0);
  ASSERT_FALSE(has_context(0));
  const Scratch nothing;
  const auto folder = nothing.path().string();
  const Environment empty_cache{{"TESSERA_CACHE_DIR", folder.c_str()}};  // the session measures its GPU and the links
  {
    RuntimeOptions options;
    options.node_parts = count, options.node_part = count - 1, options.gpus = 1;
    const Runtime runtime(options);
    EXPECT_TRUE(has_context(count - 1));
    EXPECT_FALSE(has_context(0)) << "at the start";
    constexpr Index n = 300;
    const std::vector<double> A(n * n, 1);
    auto C = A;
    gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1., A.data(), n, A.data(), n, 0., C.data(), n);
    EXPECT_EQ(C.front(), n);
    const device::gpu::Allocation on_gpu(count - 1, 2 * n * n * sizeof(double));
    auto *const a = static_cast<double*>(on_gpu.data()), *const c = a + n * n;
    gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1., A.data(), n, A.data(), n, 0., a, n);
    gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1., a, n, a, n, 0., c, n);  // by this thread, without tasks
    EXPECT_EQ(current(), 0);
    EXPECT_FALSE(has_context(0)) << "after calls";
    const PinnedBuffer<double> buffer(n * n);
    EXPECT_FALSE(has_context(0)) << "with pinned memory";
    const Matrix<double> without_memory(n, n, {n, n});
    static starpu_codelet write{};
    write.cpu_funcs[0] = [](void** /*tiles*/, void* /*unused*/) {};
    write.nbuffers = 1, write.modes[0] = STARPU_W;
    ASSERT_EQ(starpu_task_insert(&write, STARPU_W, without_memory.handle(0, 0), 0), 0);
    wait();
    EXPECT_FALSE(has_context(0)) << "with a tile that a core has written";
    const auto peers = device::make_peer_memory();
    ASSERT_NE(peers, nullptr);
    EXPECT_EQ(peers->samples().size(), 1U);
    EXPECT_GT(peers->seconds_to_host_and_back(), 0);
    EXPECT_FALSE(has_context(0)) << "with memory for other processes";
  }
  EXPECT_EQ(current(), 0);
  EXPECT_FALSE(has_context(0)) << "at the end";
}

// A thread may work in a context of its own instead of the one of the CUDA runtime.
TEST(Contexts, OfAThreadStayCurrent) {
  CUcontext own = nullptr, now = nullptr;
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(of_driver<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent")(&own), CUDA_SUCCESS);
  {
    const device::gpu::KeepCurrentDevice keep;
    int count = 0;
    ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
    ASSERT_EQ(cudaSetDevice(count - 1), cudaSuccess);
  }
  ASSERT_EQ(of_driver<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent")(&now), CUDA_SUCCESS);
  EXPECT_EQ(now, own);
  EXPECT_EQ(current(), 0);
}

}  // namespace
}  // namespace tessera::test
