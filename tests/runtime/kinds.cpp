// SPDX-License-Identifier: BSD-3-Clause
// Sessions with a GPU of CUDA, an OpenCL device and cores. CMakeLists.txt asks for one of each kind of GPU, which may
// be the same GPU twice.
#include <starpu.h>

#include <gmock/gmock.h>

#include <iostream>
#include <string>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/lapack.hpp>
#include <tessera/runtime.hpp>

#include "machine/machine_rates.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "support/operands.hpp"
#include "support/random_vector.hpp"
#include "support/tasks_of.hpp"
#include "support/tiled.hpp"

namespace tessera::test {
namespace {

RuntimeOptions with(int cpus, Placement placement) {
  RuntimeOptions options;
  options.cpus = cpus, options.placement = placement;
  return options;
}

/// The tasks of each kind of worker.
struct TasksByKind {
  TasksOf cuda{STARPU_CUDA_WORKER}, opencl{STARPU_OPENCL_WORKER}, cores{STARPU_CPU_WORKER};
};

/// C ← α A Bᵀ + β C, and an update of a triangle, over tiles of which each device gets several.
void expect_right_products(Index size, Index tile) {
  auto before = integer_call(routine<double>("gemm"), {.op_b = Op::Trans}, {size, size, size}, 1, 1.0, 2.0),
       after = before;
  auto triangle = integer_call(routine<double>("syrk"), {}, {size, size, size}, 1, 1.0, 2.0), updated = triangle;
  {
    const auto a = tiled(after.A, {tile, tile}), b = tiled(after.B, {tile, tile}), c = tiled(after.C, {tile, tile});
    gemm<double>(Op::NoTrans, Op::Trans, 1.0, a, b, 2.0, c);
    const auto x = tiled(updated.A, {tile, tile}), y = tiled(updated.C, {tile, tile});
    syrk<double>(Uplo::Lower, Op::NoTrans, 1.0, x, 2.0, y);
    c.wait(), y.wait();
  }
  EXPECT_TRUE(result_is_exact(before, after));
  EXPECT_TRUE(result_is_exact(triangle, updated));
}

TEST(Kinds, AreListedOneAfterAnother) {
  const Runtime runtime(with(1, Placement::Automatic));
  const auto all = devices();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_FALSE(all[1].opencl);
  EXPECT_TRUE(all[2].opencl);
  EXPECT_TRUE(all[2].name.ends_with("(OpenCL)")) << all[2].name;
  EXPECT_GT(all[1].memory, 0u);
  EXPECT_GT(all[2].memory, 0u);
  EXPECT_EQ(placement(), Placement::Home);
}

TEST(Kinds, ShareACall) {
  for (const auto placement : {Placement::Home, Placement::Owner, Placement::Scheduler}) {
    const Runtime runtime(with(placement == Placement::Scheduler ? 2 : 1, placement));
    expect_right_products(600, 100);  // compiles the kernels
    TasksByKind tasks;
    reset_statistics();
    expect_right_products(1200, 100);
    const int cuda = tasks.cuda.count(), opencl = tasks.opencl.count(), cores = tasks.cores.count();
    std::cout << "tasks: " << cuda << " by CUDA, " << opencl << " by OpenCL, " << cores << " by cores\n";
    EXPECT_GT(cuda, 0);
    if (placement != Placement::Scheduler) {
      EXPECT_GT(opencl, 0);
      EXPECT_EQ(cores, 0);
    }
    const auto moved = statistics();
    EXPECT_EQ(moved.bytes_d2d, 0u) << "they are no peers";
    for (const int gpu : {0, placement == Placement::Scheduler ? 0 : 1})
      EXPECT_TRUE(std::ranges::any_of(moved.links, [&](const LinkTraffic& link) {
        return link.from == -1 && link.to == gpu;
      })) << gpu;
  }
}

TEST(Kinds, HaveRatesOfTheirOwn) {
  const Runtime runtime(with(1, Placement::Automatic));
  const auto& rates = detail::machine_rates<double>(detail::session()->machine());
  EXPECT_GT(rates.gpu.best_rate(), 0);
  EXPECT_GT(rates.opencl.best_rate(), 0);
  std::cout << "dgemm: " << 1e-12 * rates.gpu.best_rate() << " TFLOP/s by CUDA, " << 1e-12 * rates.opencl.best_rate()
            << " by OpenCL\n";
  EXPECT_DOUBLE_EQ(rates.others, (1 + rates.opencl.best_rate() / rates.gpu.best_rate()) / 2);
}

/// A diagonally dominant matrix, and the solution of a system with it that is exact.
void expect_right_solution(Index n, bool cholesky) {
  std::vector<double> A(static_cast<std::size_t>(n * n), 1.0), b(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; i++) A[static_cast<std::size_t>(i + i * n)] = static_cast<double>(n + 1);
  for (auto& element : b) element = static_cast<double>(2 * n);  // the row sums
  if (cholesky) {
    posv<double>(Uplo::Lower, n, 1, A.data(), n, b.data(), n);
  } else {
    std::vector<Index> pivots(static_cast<std::size_t>(n));
    gesv<double>(n, 1, A.data(), n, pivots.data(), b.data(), n);
  }
  for (const double x : b) ASSERT_NEAR(x, 1, 1e-12);
}

// Large enough for tiles whose diagonal blocks GPUs of CUDA invert.
TEST(Kinds, SolveTogether) {
  for (const auto placement : {Placement::Home, Placement::Owner, Placement::Scheduler}) {
    auto options = with(1, placement);
    options.tile = 512;
    const Runtime runtime(options);
    for (const bool cholesky : {true, false}) {
      TasksByKind tasks;
      expect_right_solution(3000, cholesky);
      std::cout << (cholesky ? "posv: " : "gesv: ") << tasks.cuda.count() << " by CUDA, " << tasks.opencl.count()
                << " by OpenCL, " << tasks.cores.count() << " by cores\n";
    }
  }
}

}  // namespace
}  // namespace tessera::test
