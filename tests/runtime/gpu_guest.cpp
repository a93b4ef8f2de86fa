// SPDX-License-Identifier: BSD-3-Clause
// What Tessera must do on GPUs, and what it must leave unchanged there.
#include <starpu.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/runtime.hpp>

#include "devices/gpu_workers.hpp"
#include "support/random_vector.hpp"
#include "support/tiled.hpp"

#ifdef TESSERA_WITH_CUDA
#include <cuda_runtime.h>
#endif

namespace tessera::test {
namespace {

template <Scalar T>
class Gpu : public ::testing::Test {};
TYPED_TEST_SUITE(Gpu, ScalarTypes);

TYPED_TEST(Gpu, ComputesAndMovesWhatItMust) {
  using T = TypeParam;
  const Runtime runtime;
  ASSERT_GE(gpu_count(), 1);
  EXPECT_EQ(placement(), Placement::Home);
  constexpr Index size = 1000;
  const auto A = integer_matrix<T>(1, size, size), B = integer_matrix<T>(2, size, size);
  auto C = integer_matrix<T>(3, size, size), expected = C;
  reset_statistics();
  gemm<T>(Op::NoTrans, Op::NoTrans, size, size, size, T(1), A.data(), size, B.data(), size, T(1), C.data(), size);
  const auto moved = statistics();
  host_product<T>({Op::NoTrans, Op::NoTrans, T(1), A, B, T(1)}, expected);
  EXPECT_TRUE(C.equals(expected));
  constexpr std::uint64_t matrix = sizeof(T) * size * size;
  EXPECT_GE(moved.bytes_h2d, 3 * matrix);
  EXPECT_GE(moved.bytes_d2h, matrix);
  std::uint64_t by_links = 0;
  for (const auto& link : moved.links) by_links += link.bytes;
  EXPECT_EQ(by_links, moved.bytes_h2d + moved.bytes_d2h + moved.bytes_d2d);
}

TYPED_TEST(Gpu, TileOfTheResultIsNotLoadedWhenBetaIsZero) {
  using T = TypeParam;
  const Runtime runtime;
  constexpr Index size = 1000;
  const auto A = integer_matrix<T>(1, size, 8), B = integer_matrix<T>(2, 8, size);
  HostMatrix<T> C(size, size), expected(size, size);
  reset_statistics();
  gemm<T>(Op::NoTrans, Op::NoTrans, size, size, 8, T(1), A.data(), size, B.data(), 8, T(0), C.data(), size);
  EXPECT_LT(statistics().bytes_h2d, sizeof(T) * size * size / 2);
  host_product<T>({Op::NoTrans, Op::NoTrans, T(1), A, B, T(0)}, expected);
  EXPECT_TRUE(C.equals(expected));
}

// CMakeLists.txt sets TESSERA_GPU_MEMORY to 64 MiB. The operands need three times as much.
TYPED_TEST(Gpu, ComputesWithOperandsLargerThanItsMemory) {
  using T = TypeParam;
  if (std::getenv("TESSERA_GPU_MEMORY") == nullptr) GTEST_SKIP() << "the memory is not limited";
  const Runtime runtime;
  const auto limit = static_cast<std::size_t>(std::atoll(std::getenv("TESSERA_GPU_MEMORY"))) << 20;
  const auto size = static_cast<Index>(std::sqrt(static_cast<double>(gpu_count() * limit) / sizeof(T)));
  auto before = integer_call(routine<T>("gemm"), {.op_b = Op::Trans}, {size, size, size}, 1, T(1), T(1)),
       after = before;
  {
    constexpr TileSize tile{512, 512};
    const auto a = tiled(after.A, tile), b = tiled(after.B, tile), c = tiled(after.C, tile);
    for (int repeat = 0; repeat < 2; repeat++) gemm<T>(Op::NoTrans, Op::Trans, T(1), a, b, T(1), c);
    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++)
      if (device::gpu_workers::is_gpu_memory(node)) {
        EXPECT_EQ(starpu_memory_get_total(node), static_cast<starpu_ssize_t>(limit));
      }
  }
  before.alpha = T(2);
  EXPECT_TRUE(result_is_exact(before, after));
}

TEST(GpuGuest, DevicesAreDescribed) {
  const Runtime runtime;
  const auto all = devices();
  ASSERT_EQ(std::ssize(all), 1 + gpu_count());
  for (std::size_t i = 1; i < all.size(); i++) {
    EXPECT_EQ(all[i].kind, Device::Kind::Gpu);
    EXPECT_GE(all[i].workers, 1);
    EXPECT_GT(all[i].memory, std::size_t{1} << 30);
    EXPECT_NE(all[i].name, "GPU");
  }
}

#ifdef TESSERA_WITH_CUDA
TEST(GpuGuest, LeavesTheCallersDeviceAndItsMemoryAlone) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  const int mine = count - 1;
  ASSERT_EQ(cudaSetDevice(mine), cudaSuccess);
  void* memory = nullptr;
  constexpr std::size_t bytes = 1 << 20;
  ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
  ASSERT_EQ(cudaMemset(memory, 0x5a, bytes), cudaSuccess);
  const auto current = [] {
    int device = -1;
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    return device;
  };
  {
    // With an empty cache, the links are measured now. Unlike StarPU's own calibration, this must not reset the
    // devices.
    const std::string cache = ::testing::TempDir() + "tessera-fresh-cache-XXXXXX";
    std::vector<char> folder(cache.c_str(), cache.c_str() + cache.size() + 1);
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    setenv("TESSERA_CACHE_DIR", folder.data(), 1);
    const Runtime runtime;
    EXPECT_EQ(current(), mine);
    const auto A = integer_matrix<double>(1, 300, 300);
    HostMatrix<double> C(300, 300);
    gemm<double>(Op::NoTrans, Op::NoTrans, 300, 300, 300, 1, A.data(), 300, A.data(), 300, 0, C.data(), 300);
    EXPECT_EQ(current(), mine);
    (void)devices();
    EXPECT_EQ(current(), mine);
  }
  EXPECT_EQ(current(), mine);
  std::vector<unsigned char> home(bytes);
  ASSERT_EQ(cudaMemcpy(home.data(), memory, bytes, cudaMemcpyDeviceToHost), cudaSuccess) << "the device was reset";
  EXPECT_EQ(home, std::vector<unsigned char>(bytes, 0x5a));
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}
#endif

}  // namespace
}  // namespace tessera::test
