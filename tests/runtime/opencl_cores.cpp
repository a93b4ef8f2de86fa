// SPDX-License-Identifier: BSD-3-Clause
// Cores that compute tiles alongside OpenCL devices. PoCL's devices are much slower than the cores.
#include <starpu.h>

#include <gmock/gmock.h>

#include <complex>
#include <random>
#include <string_view>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/runtime.hpp>

#include "plan/plans.hpp"
#include "routines/compute.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "support/described.hpp"
#include "support/environment.hpp"
#include "support/operands.hpp"
#include "support/random_vector.hpp"
#include "support/reference.hpp"
#include "support/tasks_of.hpp"
#include "support/tiled.hpp"

namespace tessera::test {
namespace {

RuntimeOptions with_cores(int cpus, Placement placement = Placement::Automatic) {
  RuntimeOptions options;
  options.cpus = cpus, options.placement = placement;
  return options;
}

void expect_right_results() {
  auto before = integer_call(routine<double>("gemm"), {.op_b = Op::Trans}, {300, 300, 200}, 1, 1.0, 2.0),
       after = before;
  auto triangle = integer_call(routine<double>("syrk"), {}, {300, 300, 200}, 1, 1.0, 2.0), updated = triangle;
  {
    const auto a = tiled(after.A, {32, 32}), b = tiled(after.B, {32, 32}), c = tiled(after.C, {32, 32});
    gemm<double>(Op::NoTrans, Op::Trans, 1.0, a, b, 2.0, c);
    const auto x = tiled(updated.A, {32, 32}), y = tiled(updated.C, {32, 32});
    syrk<double>(Uplo::Lower, Op::NoTrans, 1.0, x, 2.0, y);
    c.wait(), y.wait();
  }
  EXPECT_TRUE(result_is_exact(before, after));
  EXPECT_TRUE(result_is_exact(triangle, updated));
}

TEST(OpenClAndCores, ComputeRightResultsTogether) {
  for (const auto placement : {Placement::Home, Placement::Owner}) {
    const Runtime runtime(with_cores(2, placement));
    ASSERT_EQ(gpu_count(), 2);
    TasksOf cores(STARPU_CPU_WORKER), devices(STARPU_OPENCL_WORKER);
    expect_right_results();
    EXPECT_GT(cores.count(), 0);
    EXPECT_GT(devices.count(), 0);
  }
}

TEST(OpenClAndCores, ASingleCpuWorkerComputesNoTiles) {
  const Runtime runtime(with_cores(1));
  TasksOf cores(STARPU_CPU_WORKER), devices(STARPU_OPENCL_WORKER);
  expect_right_results();
  EXPECT_EQ(cores.count(), 0);
  EXPECT_GT(devices.count(), 0);
}

/// Computes a call of trmm or trsm whose last `columns` (side Right: rows) the cores compute, and compares the result
/// with the host's.
void expect_right_result(const Routine<double>& routine, const Options& options, const Extent& size,
                         tile::LastTiles columns) {
  const auto session = runtime::session();
  auto plan = plan::plan_columns(session->machine(), {32, 32, 32}, 2);
  (options.side == Side::Left ? plan.columns_for_cores : plan.rows_for_cores) = columns;
  const auto before = integer_call(routine, options, size, 1, -2.0, 0.0);
  auto after = before;
  routines::compute_triangular<double>(session, plan, described(after));
  EXPECT_TRUE(result_is_that_of_the_host(before, after)) << routine.name;
}

TEST(OpenClAndCores, ShareTheColumnsOfTriangularRoutines) {
  for (const auto placement : {Placement::Home, Placement::Owner}) {
    const Runtime runtime(with_cores(2, placement));
    TasksOf cores(STARPU_CPU_WORKER);
    for (const auto* name : {"trmm", "trsm"}) {
      const auto& triangular = routine<double>(name);
      cores.count();
      for_all_options(triangular, [&](const Options& options) {
        expect_right_result(triangular, options, {80, 120, 0}, {4, 10});
        const int tasks = options.side == Side::Left ? 4 * 6 : 4 * 10;  // a column of three or four tiles: 6 or 10
        EXPECT_TRUE(placement == Placement::Home || cores.count() == tasks);
      });
      expect_right_result(triangular, {}, {80, 65, 0}, {2, 32});  // one column is left for the devices
    }
  }
}

/// The same for sums, whose last rows, columns, or both (of a triangle), the cores compute.
template <typename T, typename Compute>
void expect_right_result(const char* name, Compute compute, const Extent& size, tile::LastTiles last) {
  const auto session = runtime::session();
  const auto& called = routine<T>(name);
  const std::string_view stored(name);
  const bool triangle = compute == &routines::compute_update<T> || stored == "gemmt",
             symmetric = compute == &routines::compute_symmetric<T>;
  for_all_options(called, [&](const Options& options) {
    for (const bool rows : {false, true}) {
      if (symmetric && rows != (options.side == Side::Right)) continue;
      const Index terms = !symmetric ? size.k : rows ? size.n : size.m;
      auto plan = plan::plan_sums(session->machine(), is_complex<T> ? 'z' : 'd', {32, 32, 32}, 16, terms, 2);
      plan.for_cores = 0;
      if (rows || triangle) plan.rows_for_cores = last;
      if (!rows || triangle) plan.columns_for_cores = last;
      const auto before = integer_call(called, options, size, 1, -2.0, 3.0);
      auto after = before;
      compute(session, plan, described(after));
      EXPECT_TRUE(result_is_that_of_the_host(before, after)) << name;
    }
  });
}

TEST(OpenClAndCores, ShareTheLastRowsAndColumnsOfSums) {
  for (const auto placement : {Placement::Home, Placement::Owner}) {
    const Runtime runtime(with_cores(2, placement));
    TasksOf cores(STARPU_CPU_WORKER);
    for (const auto last : {tile::LastTiles{4, 10}, tile::LastTiles{2, 32}}) {
      expect_right_result<double>("gemm", &routines::compute_product<double>, {83, 121, 70}, last);
      expect_right_result<double>("gemmt", &routines::compute_product<double>, {121, 121, 70}, last);
      expect_right_result<double>("symm", &routines::compute_symmetric<double>, {83, 121, 0}, last);
      for (const auto* name : {"syrk", "syr2k"})
        expect_right_result<double>(name, &routines::compute_update<double>, {121, 121, 70}, last);
      EXPECT_GT(cores.count(), 0);
    }
  }
}

TEST(OpenClAndCores, ShareTheLastRowsAndColumnsOfHermitianSums) {
  using Complex = std::complex<double>;
  const Runtime runtime(with_cores(2));
  expect_right_result<Complex>("hemm", &routines::compute_symmetric<Complex>, {83, 121, 0}, {4, 10});
  for (const auto* name : {"herk", "her2k"})
    expect_right_result<Complex>(name, &routines::compute_update<Complex>, {121, 121, 70}, {4, 10});
}

// The devices are so slow that the plan gives columns to the cores.
TEST(OpenClAndCores, ShareLongCallsOfTriangularRoutines) {
  const Runtime runtime(with_cores(2));
  const auto plan =
      plan::plan_triangular(runtime::session()->machine(), 'd', Side::Left, Op::NoTrans, true, 1024, 100000);
  EXPECT_TRUE(plan.has_cores());
  EXPECT_EQ(plan.columns_for_cores.count % 2, 0);
}

// These devices use the same cores.
TEST(OpenClAndCores, CoresStayOutOfDevicesThatMayBeThem) {
  const Environment no_wish{{"TESSERA_CPUS", ""}};
  const Runtime runtime;
  EXPECT_EQ(cpu_workers(), 1);
  EXPECT_THAT(runtime::session()->cores(), ::testing::StartsWith("compute no tiles: "));
}

/// C ← A B with values whose products are rounded.
std::vector<double> product_of_fractions() {
  constexpr Index n = 250;
  std::minstd_rand engine(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> A(static_cast<std::size_t>(n * n)), B(A.size());
  for (auto* matrix : {&A, &B})
    for (auto& element : *matrix) element = uniform(engine);
  std::vector<double> C(A.size());
  gemm<double>(Op::NoTrans, Op::NoTrans, n, n, n, 1.0, A.data(), n, B.data(), n, 0.0, C.data(), n);
  return C;
}

// The plan fixes which tiles the cores compute.
TEST(OpenClAndCores, GiveTheSameBitsWithOwnersOrWithoutCores) {
  for (const auto& options : {with_cores(2, Placement::Owner), with_cores(1)}) {
    auto fixed = options;
    fixed.tile = 32;
    const Runtime runtime(fixed);
    const auto first = product_of_fractions();
    for (int repeat = 0; repeat < 5; repeat++) EXPECT_EQ(product_of_fractions(), first) << fixed.cpus;
  }
}

}  // namespace
}  // namespace tessera::test
