// SPDX-License-Identifier: BSD-3-Clause
// The real engine, on CPU workers.
#include "dropin/engine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dropin/decision.hpp"

namespace tessera::test::engine_cpp {
namespace {

using namespace dropin;

constexpr double one = 1;

Job product_of_order(Index n) {
  const blas::Call call{
      .routine = blas::Routine::gemm, .type = 'd', .m = n, .n = n, .k = n, .alpha = &one, .beta = &one};
  return job_of(call, blas::flops(call));
}

Job solver_of_order(blas::LapackRoutine routine, Index n) {
  const blas::LapackCall call{.routine = routine, .type = 'd', .m = n, .n = n, .k = n, .nrhs = n};
  return job_of(call, blas::flops(call));
}

TEST(Engine, PredictsWhatItsPlanPredicts) {
  const auto& engine = *tessera_dropin_engine();
  common::DeviceChoice cpu;
  cpu.gpus = 0, cpu.cpu_only = true;
  ASSERT_EQ(engine.start(cpu, false), nullptr);
  const auto product = product_of_order(1000);
  const double seconds = engine.seconds(product);
  ASSERT_TRUE(std::isfinite(seconds) && seconds > 0);
  EXPECT_EQ(engine.seconds(product), seconds);
  Settings settings;
  settings.devices = cpu;
  for (const bool host_is_slow : {false, true}) {
    Decision decision(settings);
    decision.observe_host(product, host_is_slow ? 100 * seconds : seconds / 100);
    EXPECT_EQ(decision.choose(product, engine), host_is_slow ? Place::Devices : Place::Host);
  }
  for (int number = 0; number < blas::lapack_routine_count; number++) {
    const blas::LapackRoutine routine{number};
    const double of_it = engine.seconds(solver_of_order(routine, 500));
    EXPECT_TRUE(std::isfinite(of_it) && of_it > 0) << blas::lapack_routines[number].name;
    EXPECT_EQ(engine.seconds(solver_of_order(routine, 0)), 0) << blas::lapack_routines[number].name;
  }
  EXPECT_EQ(engine.seconds(product_of_order(0)), 0);
  engine.stop();
}

}  // namespace
}  // namespace tessera::test::engine_cpp
