// SPDX-License-Identifier: BSD-3-Clause
// The real engine, on CPU workers or on the GPUs of the test.
#include "dropin/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include <tessera/pinned.hpp>

#include "dropin/decision.hpp"

namespace tessera::test::engine_cpp {
namespace {

using namespace dropin;

constexpr double one = 1;

/// A product of order n on operands that are all in the same memory.
Job product_of_order(Index n, double* memory) {
  const blas::Call call{.routine = blas::Routine::gemm,
                        .type = 'd',
                        .m = n,
                        .n = n,
                        .k = n,
                        .alpha = &one,
                        .A = memory,
                        .lda = n,
                        .B = memory,
                        .ldb = n,
                        .beta = &one,
                        .C = memory,
                        .ldc = n};
  return job_of(call, blas::flops(call));
}

Job solver_of_order(blas::LapackRoutine routine, Index n) {
  const blas::LapackCall call{.routine = routine, .type = 'd', .m = n, .n = n, .k = n, .nrhs = n};
  return job_of(call, blas::flops(call));
}

void expect_believed(const Engine& engine, const Job& job, const Settings& settings) {
  const double seconds = engine.seconds(job);
  for (const bool host_is_slow : {false, true}) {
    Decision decision(settings);
    decision.observe_host(job, host_is_slow ? 100 * seconds : seconds / 100);
    EXPECT_EQ(decision.choose(job, engine), host_is_slow ? Place::Devices : Place::Host);
  }
}

double element = 0;
std::int64_t pivot = 0;

/// A factorization whose narrowest panels exceed the memory of a GPU. Nothing is accessed.
blas::LapackCall far_too_tall() {
  constexpr Index m = std::numeric_limits<int>::max();
  return {.routine = blas::LapackRoutine::getrf,
          .type = 'd',
          .wide = true,
          .m = m,
          .n = 8,
          .A = &element,
          .lda = m,
          .ipiv = &pivot};
}

/// A row-major factorization of which no column-major copy fits into the address space.
blas::LapackCall far_too_large_to_copy() {
  constexpr Index n = Index{1} << 22;
  return {.routine = blas::LapackRoutine::getrf,
          .type = 'd',
          .wide = true,
          .layout = Layout::RowMajor,
          .m = n,
          .n = n,
          .A = &element,
          .lda = n,
          .ipiv = &pivot};
}

void expect_declined(const Engine& engine, const blas::LapackCall& call, const char* objection) {
  Index info = 0;
  ASSERT_EQ(engine.solve(&call, &info, nullptr), Outcome::Declined) << engine.objection();
  EXPECT_THAT(engine.objection(), ::testing::HasSubstr(objection));
}

TEST(Engine, PredictsWhatItsPlansPredict) {
  const auto& engine = *tessera_dropin_engine();
  const bool on_gpus = std::getenv("TESSERA_TEST_NEEDS_GPUS") != nullptr;
  Settings settings;
  settings.devices = common::device_choice();
  settings.devices.cpu_only = !on_gpus;
  if (!on_gpus) settings.devices.gpus = 0;
  ASSERT_EQ(engine.start(settings.devices, on_gpus), nullptr);
  constexpr Index n = 1000;
  {
    std::vector<double> pageable(n * n);
    PinnedBuffer<double> pinned(n * n);
    const auto product = product_of_order(n, pageable.data());
    const double seconds = engine.seconds(product);
    ASSERT_TRUE(std::isfinite(seconds) && seconds > 0);
    EXPECT_EQ(engine.seconds(product), seconds);
    const double of_pinned = engine.seconds(product_of_order(n, pinned.data()));
    if (on_gpus) EXPECT_NE(of_pinned, seconds);  // rates are measured, so either may be slower on a busy machine
    else EXPECT_EQ(of_pinned, seconds);
    expect_believed(engine, product, settings);
    // Pinned in part, the operands are copied like pageable memory.
    host_register(pageable.data(), pageable.size() * sizeof(double) / 2);
    EXPECT_EQ(engine.seconds(product), seconds);
    host_unregister(pageable.data());
  }
  for (int number = 0; number < blas::lapack_routine_count; number++) {
    const blas::LapackRoutine routine{number};
    const double of_it = engine.seconds(solver_of_order(routine, 500));
    EXPECT_TRUE(std::isfinite(of_it) && of_it > 0) << blas::lapack_routines[number].name;
    EXPECT_EQ(engine.seconds(solver_of_order(routine, 0)), 0) << blas::lapack_routines[number].name;
  }
  EXPECT_EQ(engine.seconds(product_of_order(0, nullptr)), 0);
  if (on_gpus) {
    expect_declined(engine, far_too_tall(), "MiB");
    EXPECT_EQ(engine.seconds(job_of(far_too_tall(), blas::flops(far_too_tall()))),
              std::numeric_limits<double>::infinity());
  }
  expect_declined(engine, far_too_large_to_copy(), "bad_alloc");
  EXPECT_STREQ(engine.failure(), "");
  engine.stop();
}

}  // namespace
}  // namespace tessera::test::engine_cpp
