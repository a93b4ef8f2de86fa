// SPDX-License-Identifier: BSD-3-Clause
// Two memory nodes without a GPU. The environment in CMakeLists.txt makes hwloc show StarPU two NUMA nodes. The
// operands are in the memory of node 0, and workers of node 1 need copies in the memory of node 1, which is small.
#include <starpu.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>

#include <tessera/blas3.hpp>
#include <tessera/runtime.hpp>

#include "devices/partial_tile.hpp"
#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/starpu.hpp"
#include "support/tiled.hpp"
#include "support/tiling.hpp"

namespace tessera::test {
namespace {

constexpr unsigned far_node = 1;
constexpr Index b = 128, tiles = 6, size = b * tiles - 5;
constexpr TileSize tile{b, b};

struct Traffic {
  std::size_t to_far_node = 0, from_far_node = 0;
};

/// Bytes copied since the last call. StarPU resets its counters when they are read.
Traffic traffic() {
  Traffic sum;
  for (int bus = 0; bus < starpu_bus_get_count(); bus++) {
    starpu_profiling_bus_info info{};
    starpu_bus_get_profiling_info(bus, &info);
    if (starpu_bus_get_dst(bus) == static_cast<int>(far_node)) sum.to_far_node += info.transferred_bytes;
    if (starpu_bus_get_src(bus) == static_cast<int>(far_node)) sum.from_far_node += info.transferred_bytes;
  }
  return sum;
}

/// Watches the memory in use on a node during its lifetime, and records the maximum.
class HighWaterMark {
 public:
  explicit HighWaterMark(unsigned node)
      : watcher_([this, node] {
          while (!stop_) {
            most_ = std::max(most_.load(), starpu_memory_get_used(node));
            usleep(100);
          }
        }) {}
  ~HighWaterMark() { finish(); }
  std::size_t finish() {
    stop_ = true;
    if (watcher_.joinable()) watcher_.join();
    return most_;
  }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<std::size_t> most_ = 0;
  std::thread watcher_;
};

template <Scalar T>
void expect_right_chain() {
  const auto A = integer_matrix<T>(1, size, size, 0, 1), B = integer_matrix<T>(2, size, size, 3, 1);
  auto C = integer_matrix<T>(3, size, size, 1, 1), D = integer_matrix<T>(4, size, size, 0, 1), c = C, d = D;
  {
    const auto a = tiled(A, tile), bb = tiled(B, tile), tc = tiled(C, tile);
    gemm<T>(Op::NoTrans, Op::Trans, T(1), a, bb, T(1), tc);
    gemm<T>(Op::ConjTrans, Op::NoTrans, T(1), bb, a, T(-1), tiled(D, tile));
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), bb, bb, T(1), tc);
  }
  host_product<T>({Op::NoTrans, Op::Trans, T(1), A, B, T(1)}, c);
  host_product<T>({Op::ConjTrans, Op::NoTrans, T(1), B, A, T(-1)}, d);
  host_product<T>({Op::NoTrans, Op::NoTrans, T(1), B, B, T(1)}, c);
  EXPECT_TRUE(C.equals(c));
  EXPECT_TRUE(D.equals(d));
}

/// During its lifetime, tasks that this thread submits run only on the workers of one memory node, by means of a StarPU
/// scheduling context.
class OnlyOnNode {
 public:
  explicit OnlyOnNode(unsigned node) {
    std::vector<int> workers;
    for (int worker = 0; worker < static_cast<int>(starpu_worker_get_count()); worker++)
      if (starpu_worker_get_memory_node(static_cast<unsigned>(worker)) == node) workers.push_back(worker);
    context_ = starpu_sched_ctx_create(workers.data(), static_cast<int>(workers.size()), "one node",
                                       STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);
    starpu_sched_ctx_set_context(&context_);
  }
  ~OnlyOnNode() {
    starpu_task_wait_for_all();
    starpu_sched_ctx_set_context(nullptr);
    starpu_sched_ctx_delete(context_);
  }
  OnlyOnNode(const OnlyOnNode&) = delete;
  OnlyOnNode& operator=(const OnlyOnNode&) = delete;

 private:
  unsigned context_;
};

template <Scalar T>
class MemoryNodes : public ::testing::Test {};
TYPED_TEST_SUITE(MemoryNodes, ScalarTypes);

TYPED_TEST(MemoryNodes, AreBothUsed) {
  const Runtime runtime;
  ASSERT_EQ(starpu_memory_nodes_get_count(), 2);
  ASSERT_EQ(cpu_workers(), 2);
  EXPECT_NE(starpu_worker_get_memory_node(0), starpu_worker_get_memory_node(1));
  traffic();
  expect_right_chain<TypeParam>();
  const auto copied = traffic();
  EXPECT_GT(copied.to_far_node, 0);
  EXPECT_GT(copied.from_far_node, 0);
}

// StarPU copies a triangle to node 1 and back while the host writes the other triangle.
TEST(FarNode, ReturnsOnlyTheTriangle) {
  constexpr int n = 300, ld = n + 7;
  const Runtime runtime;
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
    std::vector<double> memory(std::size_t{ld} * n);
    std::iota(memory.begin(), memory.end(), 0.0);
    const auto before = memory;
    auto ops = device::partial_tile_ops();
    auto matrix = tile_at(memory, n, n, ld);
    starpu_data_handle_t handle = nullptr;
    starpu_data_register(&handle, STARPU_MAIN_RAM, &matrix, &ops);
    device::use_triangle(handle, uplo, 0);
    const auto in_triangle = [&](std::size_t i, std::size_t j) {
      return i < n && (uplo == Uplo::Lower ? i >= j : i <= j);
    };
    traffic();
    ASSERT_EQ(starpu_data_acquire_on_node(handle, far_node, STARPU_RW), 0);
    const auto& there = *static_cast<starpu_matrix_interface*>(starpu_data_get_interface_on_node(handle, far_node));
    auto* const elements = reinterpret_cast<double*>(there.ptr);
    for (std::size_t j = 0; j < n; j++)
      for (std::size_t i = 0; i < ld; i++) {
        if (!in_triangle(i, j)) memory[i + j * ld] = -2;
        if (i >= n) continue;
        auto& element = elements[i + j * there.ld];
        ASSERT_TRUE(!in_triangle(i, j) || element == before[i + j * ld]) << i << ' ' << j << ' ' << element;
        element = -1;
      }
    starpu_data_release_on_node(handle, far_node);
    starpu_data_unregister(handle);
    const auto copied = traffic();
    for (std::size_t j = 0; j < n; j++)
      for (std::size_t i = 0; i < ld; i++) ASSERT_EQ(memory[i + j * ld], in_triangle(i, j) ? -1 : -2) << i << ' ' << j;
    const std::size_t panels = uplo == Uplo::Lower ? 128 * n + 128 * (n - 128) + 44 * (n - 256)
                                                   : 128 * 128 + 128 * 256 + 44 * n;  // the size that StarPU is told
    EXPECT_EQ(copied.to_far_node, sizeof(double) * panels);
    EXPECT_EQ(copied.from_far_node, sizeof(double) * panels);
  }
}

// All work runs on node 1, whose memory is smaller than the operands, so tiles must be evicted.
TYPED_TEST(MemoryNodes, EvictWhatDoesNotFit) {
  using T = TypeParam;
  const Runtime runtime;
  ASSERT_EQ(starpu_memory_nodes_get_count(), 2);
  const OnlyOnNode only_on_node(far_node);
  const auto limit = static_cast<std::size_t>(starpu_memory_get_total(far_node));
  const std::size_t operand = sizeof(T) * size * size;
  ASSERT_EQ(limit, std::size_t{1} << 20);  // STARPU_LIMIT_CPU_NUMA_1_MEM of CMakeLists.txt
  ASSERT_GT(operand, limit);
  traffic();
  HighWaterMark memory(far_node);
  expect_right_chain<T>();
  const auto copied = traffic();
  EXPECT_GT(memory.finish(), 0);
  EXPECT_LE(memory.finish(), limit);
  EXPECT_GT(copied.to_far_node, 4 * operand);  // each operand, and parts of them repeatedly
  EXPECT_GE(copied.from_far_node, 2 * operand);
}

/// A tile that a task overwrites is not copied to the node, so its old content is lost there. A wrong access mode is
/// visible only with several memory nodes.
class MemoryNodesOf : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, MemoryNodesOf, each_routine(), its_name);

TEST_P(MemoryNodesOf, AreOneToEveryRoutine) {
  const Runtime runtime;
  ASSERT_EQ(starpu_memory_nodes_get_count(), 2);
  const OnlyOnNode only_on_node(far_node);
  traffic();
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      for (const T beta : betas(routine)) {
        const T alpha = alphas(routine)[++seed % 3];
        const auto before = random_call(routine, options, {20, 22, 17}, seed, alpha, beta);
        ASSERT_TRUE(result_is_right(before, on_matrices(before, {{8, 8, 8}}))) << "seed " << seed;
        ASSERT_TRUE(result_is_right(before, on_matrices(before, {{40, 40, 5}}))) << "one tile, seed " << seed;
      }
    });
  });
  EXPECT_GT(traffic().to_far_node, 0);
}

}  // namespace
}  // namespace tessera::test
