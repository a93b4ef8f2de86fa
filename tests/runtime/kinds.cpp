// SPDX-License-Identifier: BSD-3-Clause
// Sessions with a CUDA GPU, an OpenCL device and cores. CMakeLists.txt asks for one of each kind of GPU, which may be
// the same GPU twice.
#include <starpu.h>

#include <gmock/gmock.h>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/lapack.hpp>
#include <tessera/runtime.hpp>

#include "machine/machine_rates.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "runtime/start_options.hpp"
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

/// A single call with enough tiles that each device gets several.
template <Scalar T>
void expect_right_result(const char* name, Index size, TileSize tile) {
  auto before = integer_call(routine<T>(name), {}, {size, size, size}, 1), after = before;
  const std::string routine = name;
  {
    const auto a = tiled(std::as_const(after.A), tile), c = tiled(after.C, tile);
    if (routine == "gemm")
      gemm<T>(Op::NoTrans, Op::NoTrans, before.alpha, a, tiled(std::as_const(after.B), tile), before.beta, c);
    if (routine == "syrk") syrk<T>(before.options.uplo, Op::NoTrans, before.alpha, a, before.beta, c);
    if (routine == "trsm")
      trsm<T>(before.options.side, before.options.uplo, Op::NoTrans, before.options.diag, before.alpha, a, c);
    c.wait();
  }
  EXPECT_TRUE(result_is_exact(before, after)) << name;
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

template <Scalar T>
void expect_shared_calls(Placement placement) {
  constexpr TileSize tile{100, 100};
  for (const char* name : {"gemm", "syrk", "trsm"}) {
    expect_right_result<T>(name, 600, tile);  // compiles the kernels
    TasksByKind tasks;
    reset_statistics();
    expect_right_result<T>(name, 1200, tile);
    const int cuda = tasks.cuda.count(), opencl = tasks.opencl.count(), cores = tasks.cores.count();
    std::cout << runtime::name_of(placement) << ", " << type_letter<T> << name << ": " << cuda << " tasks by CUDA, "
              << opencl << " by OpenCL, " << cores << " by cores\n";
    EXPECT_GT(cuda, 0) << name;
    if (placement != Placement::Scheduler) {
      EXPECT_GT(opencl, 0) << name;
      EXPECT_EQ(cores, 0) << name;
    }
    const auto moved = statistics();
    EXPECT_EQ(moved.bytes_d2d, 0u) << "they are no peers";
    for (const int gpu : {0, placement == Placement::Scheduler ? 0 : 1})
      EXPECT_TRUE(std::ranges::any_of(moved.links, [&](const LinkTraffic& link) {
        return link.from == -1 && link.to == gpu;
      })) << gpu;
  }
}

TEST(Kinds, ShareACall) {
  for (const auto placement : {Placement::Home, Placement::Owner, Placement::Scheduler}) {
    const Runtime runtime(with(placement == Placement::Scheduler ? 2 : 1, placement));
    expect_shared_calls<double>(placement);
    expect_shared_calls<float>(placement);
  }
}

TEST(Kinds, HaveRatesOfTheirOwn) {
  const Runtime runtime(with(1, Placement::Automatic));
  const auto& rates = machine::machine_rates<double>(runtime::session()->machine());
  EXPECT_GT(rates.gpu.best_rate(), 0);
  EXPECT_GT(rates.opencl.best_rate(), 0);
  std::cout << "dgemm: " << 1e-12 * rates.gpu.best_rate() << " TFLOP/s by CUDA, " << 1e-12 * rates.opencl.best_rate()
            << " by OpenCL\n";
  EXPECT_DOUBLE_EQ(rates.others, (1 + rates.opencl.best_rate() / rates.gpu.best_rate()) / 2);
}

/// A diagonally dominant matrix, and a right-hand side for which the solution is exact.
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

// Large enough for tiles whose diagonal blocks CUDA GPUs invert.
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
