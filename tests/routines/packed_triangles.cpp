// SPDX-License-Identifier: BSD-3-Clause
// Two triangles of different matrices, packed into one array and computed by two threads at the same time. The triangle
// that a call does not name belongs to the other thread.
#include <gtest/gtest.h>

#include <barrier>
#include <future>
#include <vector>

#include <tessera/blas.hpp>

#include "devices/cpu/host_blas.hpp"
#include "support/operands.hpp"
#include "support/runtime.hpp"

#ifdef TESSERA_WITH_CUDA
#include <cuda_runtime.h>
#include <starpu.h>

#include "devices/gpu.hpp"
#include "devices/partial_tile.hpp"
#include "devices/tile_interface.hpp"
#include "support/starpu.hpp"
#endif

namespace tessera::test {
namespace {

constexpr Index tile = 160;
const auto* const runtime = share_runtime(with_tile(tile));

template <Scalar T>
class PackedTriangles : public ::testing::Test {};
TYPED_TEST_SUITE(PackedTriangles, ScalarTypes);

// Column j of the array has j + 1 elements of the upper triangle, then n - j of the lower one.
TYPED_TEST(PackedTriangles, AreComputedByTwoThreads) {
  using T = TypeParam;
  constexpr Index n = 3 * tile + 20, k = 24, ld = n + 1;
  constexpr int rounds = 8;
  const auto A = integer_matrix<T>(1, n, k), B = integer_matrix<T>(2, n, k);
  auto packed = integer_matrix<T>(3, ld, n), expected = packed;
  for (int round = 0; round < rounds; round++) {
    device::cpu::syrk<T>(Uplo::Lower, Op::NoTrans, n, k, T(1), A.data(), n, T(1), expected.data() + 1, ld);
    device::cpu::syrk<T>(Uplo::Upper, Op::NoTrans, n, k, T(1), B.data(), n, T(1), expected.data(), ld);
  }
  std::barrier start(2);
  auto lower = std::async(std::launch::async, [&] {
    start.arrive_and_wait();
    for (int round = 0; round < rounds; round++)
      syrk<T>(Uplo::Lower, Op::NoTrans, n, k, T(1), A.data(), n, T(1), packed.data() + 1, ld);
  });
  start.arrive_and_wait();
  for (int round = 0; round < rounds; round++)
    syrk<T>(Uplo::Upper, Op::NoTrans, n, k, T(1), B.data(), n, T(1), packed.data(), ld);
  lower.get();
  EXPECT_TRUE(packed.equals(expected));
}

#ifdef TESSERA_WITH_CUDA
/// The memory node of a GPU, or of the host if there is no GPU.
unsigned some_gpu() {
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++)
    if (starpu_node_get_kind(node) == STARPU_CUDA_RAM) return node;
  return STARPU_MAIN_RAM;
}

/// Fills a tile in a GPU's memory with zeros.
void clear_on_gpu(starpu_data_handle_t handle, unsigned node) {
  const auto& there = *static_cast<starpu_matrix_interface*>(starpu_data_get_interface_on_node(handle, node));
  const device::gpu::KeepCurrentDevice keep;
  ASSERT_EQ(cudaSetDevice(starpu_memory_node_get_devid(node)), cudaSuccess);
  ASSERT_EQ(cudaMemset(reinterpret_cast<void*>(there.ptr), 0, std::size_t{there.ld} * there.ny * there.elemsize),
            cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

/// Copies a triangle to a GPU, sets it to zero there, and copies it back while the host writes the other triangle.
void expect_only_a_triangle_comes_back(starpu_data_interface_ops* ops, std::vector<double>& memory, int n, int ld,
                                       Uplo uplo) {
  const unsigned gpu = some_gpu();
  if (gpu == STARPU_MAIN_RAM) GTEST_SKIP() << "no GPU";
  const auto in_triangle = [&](int i, int j) { return i < n && (uplo == Uplo::Lower ? i >= j : i <= j); };
  const auto at = [&](int i, int j) -> double& {
    return memory[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(ld)];
  };
  std::ranges::fill(memory, 1);
  auto matrix = tile_at(memory, n, n, ld);
  starpu_data_handle_t handle = nullptr;
  starpu_data_register(&handle, STARPU_MAIN_RAM, &matrix, ops);
  device::use_triangle(handle, uplo, 0);
  ASSERT_EQ(starpu_data_acquire_on_node(handle, static_cast<int>(gpu), STARPU_RW), 0);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < ld; i++)
      if (!in_triangle(i, j)) at(i, j) = 2;
  clear_on_gpu(handle, gpu);
  starpu_data_release_on_node(handle, static_cast<int>(gpu));
  starpu_data_unregister(handle);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < ld; i++) ASSERT_EQ(at(i, j), in_triangle(i, j) ? 0 : 2) << i << ' ' << j;
}

constexpr int order = 1100, stride = order + 5;  // gives several panels; the last one is narrow

TEST(TriangleOnAGpu, WritesOnlyTheTriangleToPageableMemory) {
  std::vector<double> memory(std::size_t{stride} * order);
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
    expect_only_a_triangle_comes_back(device::tile_interface::pageable(), memory, order, stride, uplo);
}

TEST(TriangleOnAGpu, WritesOnlyTheTriangleToPinnedMemory) {
  if (some_gpu() == STARPU_MAIN_RAM) GTEST_SKIP() << "no GPU";
  constexpr int many = 2600;  // gives as many panels as there can be
  for (const int n : {order, many}) {
    const int ld = n + 5;
    std::vector<double> memory(static_cast<std::size_t>(ld) * static_cast<std::size_t>(n));
    const device::gpu::PinnedMemory pinned(memory.data(), memory.size() * sizeof(double));
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
      expect_only_a_triangle_comes_back(device::tile_interface::pinned(), memory, n, ld, uplo);
  }
}

// The program has unpinned the memory, so CUDA copies the rectangles directly to pageable memory.
TEST(TriangleOnAGpu, WritesOnlyTheTriangleToPageableMemoryByCuda) {
  std::vector<double> memory(std::size_t{stride} * order);
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
    expect_only_a_triangle_comes_back(device::tile_interface::pinned(), memory, order, stride, uplo);
}
#endif

}  // namespace
}  // namespace tessera::test
