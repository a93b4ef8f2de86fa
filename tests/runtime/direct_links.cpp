// SPDX-License-Identifier: BSD-3-Clause
// Links between GPUs, in one session after another. StarPU itself notices only the access that it enables.
#include <cuda_runtime.h>
#include <starpu.h>

#include <tessera/blas.hpp>
#include <tessera/runtime.hpp>

#include "devices/gpu.hpp"
#include "support/environment.hpp"
#include "support/random_vector.hpp"

namespace tessera::test {
namespace {

struct Links {
  int direct = 0, others = 0;
};
/// The links between GPUs of the running session.
Links links_between_gpus() {
  Links links;
  const auto is_gpu = [](int node) { return starpu_node_get_kind(static_cast<unsigned>(node)) == STARPU_CUDA_RAM; };
  for (int bus = 0; bus < starpu_bus_get_count(); bus++)
    if (is_gpu(starpu_bus_get_src(bus)) && is_gpu(starpu_bus_get_dst(bus)))
      (starpu_bus_get_direct(bus) != 0 ? links.direct : links.others)++;
    else EXPECT_EQ(starpu_bus_get_direct(bus), 0) << "a link of the host";
  return links;
}

/// Whether each GPU can access the memory of each other one.
bool can_be_linked(int gpus) {
  for (int device = 0; device < gpus; device++)
    for (int peer = 0; peer < gpus; peer++)
      if (int can = 0; device != peer && (cudaDeviceCanAccessPeer(&can, device, peer) != cudaSuccess || can == 0))
        return false;
  return true;
}

class DirectLinks : public ::testing::Test {
 protected:
  void SetUp() override {
    const Runtime runtime;
    gpus_ = gpu_count();
    if (gpus_ < 2) GTEST_SKIP() << "one GPU";
    if (!can_be_linked(gpus_)) GTEST_SKIP() << "the GPUs have no direct links";
  }
  int all() const { return gpus_ * (gpus_ - 1); }

 private:
  int gpus_ = 0;
};

TEST_F(DirectLinks, AreFoundInEachSession) {
  for (int session = 0; session < 3; session++) {
    const Runtime runtime;
    const auto links = links_between_gpus();
    EXPECT_EQ(links.direct, all()) << "session " << session;
    EXPECT_EQ(links.others, 0) << "session " << session;
  }
}

TEST_F(DirectLinks, AreNotUsedIfTheUserForbidsThem) {
  {
    const Environment forbidden{{"STARPU_ENABLE_CUDA_GPU_GPU_DIRECT", "0"}};
    const Runtime runtime;
    EXPECT_EQ(links_between_gpus().direct, 0);
  }
  const Runtime runtime;
  EXPECT_EQ(links_between_gpus().direct, all());
}

TEST_F(DirectLinks, MayHaveBeenEnabledByTheProgram) {
  for (const bool enable : {true, false}) {
    for (int device = 0; device < 2; device++) {
      ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
      if (enable) cudaDeviceEnablePeerAccess(1 - device, 0);
      else cudaDeviceDisablePeerAccess(1 - device);
      cudaGetLastError();  // it may have been enabled, or disabled, before
    }
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_TRUE(device::gpu::enable_access(0, 1));
    EXPECT_TRUE(device::gpu::enable_access(0, 1));
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    const Runtime runtime;
    EXPECT_EQ(links_between_gpus().direct, all());
  }
}

// In the memory of the first GPU, tiles of the others return to it directly: nothing passes through the host.
TEST_F(DirectLinks, CarryTilesInTheSecondSession) {
  constexpr Index n = 256;
  constexpr std::size_t bytes = n * n * sizeof(double);
  const auto values = integer_matrix<double>(1, n, n);
  for (int session = 0; session < 2; session++) {
    RuntimeOptions options;
    options.tile = 64;
    const Runtime runtime(options);
    const device::gpu::Allocation A(0, bytes), C(0, bytes);
    device::gpu::copy_columns(A.data(), bytes, values.data(), bytes, bytes, 1);
    reset_statistics();
    auto* const c = static_cast<double*>(C.data());
    const auto* const a = static_cast<const double*>(A.data());
    syrk(Uplo::Lower, Op::NoTrans, n, n, 1., a, n, 0., c, n);
    const auto moved = statistics();
    EXPECT_EQ(moved.bytes_h2d + moved.bytes_d2h, 0u) << "session " << session;
    EXPECT_GT(moved.bytes_d2d, 0u) << "session " << session;
  }
}

}  // namespace
}  // namespace tessera::test
