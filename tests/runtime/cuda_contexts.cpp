// SPDX-License-Identifier: BSD-3-Clause
// A session on the second GPU creates no CUDA context on the first one, which would take half a gigabyte there. Each
// process of a node has such a session. One test, because contexts stay until the process ends.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/runtime.hpp>

#include "devices/gpu.hpp"

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
