// SPDX-License-Identifier: BSD-3-Clause
// The predicted time of calls, on invented machines.
#include <gtest/gtest.h>

#include <cmath>

#include "machine/machine.hpp"
#include "plan/invented_rates.hpp"
#include "routines/compute.hpp"

namespace tessera::test::predicted_cpp {
namespace {

using blas::LapackCall, blas::LapackRoutine;
using routines::predicted_seconds;

constexpr double one = 1;

blas::Call product(Index n) {
  return {.routine = blas::Routine::gemm,
          .type = 'd',
          .m = n,
          .n = n,
          .k = n,
          .alpha = &one,
          .lda = n,
          .ldb = n,
          .beta = &one,
          .ldc = n};
}

LapackCall solver(LapackRoutine routine, Index n) {
  return {.routine = routine, .type = 'd', .m = n, .n = n, .k = n, .nrhs = n, .lda = n, .ldb = n};
}

TEST(Predicted, IsTheTimeOfThePlan) {
  const InventedRates rates;
  const auto machine = machine_with(1, 2, Placement::Home);
  EXPECT_DOUBLE_EQ(predicted_seconds(machine, product(2048)), routines::plan_call(machine, product(2048)).seconds);
}

TEST(Predicted, SimilarCallsShareAPlan) {
  const InventedRates rates;
  const auto machine = machine_with(1, 2, Placement::Home);
  const auto planned_rate = [&](Index n) {
    return blas::flops(product(n)) / routines::plan_call(machine, product(n)).seconds;
  };
  const auto rate = [&](const auto& call) { return blas::flops(call) / predicted_seconds(machine, call); };
  EXPECT_NE(planned_rate(2000), planned_rate(2010)) << "this test sees whether a call has its own plan";
  for (const Index n : {2000, 2010, 2100}) EXPECT_DOUBLE_EQ(rate(product(n)), planned_rate(2048)) << n;
  for (const auto routine : {LapackRoutine::potrf, LapackRoutine::getrf, LapackRoutine::geqrf, LapackRoutine::potrs})
    EXPECT_NEAR(rate(solver(routine, 2000)), rate(solver(routine, 2048)), 1e-3 * rate(solver(routine, 2048)));
}

TEST(Predicted, KnowsWhereTheOperandsAre) {
  const InventedRates rates;
  auto machine = machine_with(1, 1, Placement::Home);
  const double copied = predicted_seconds(machine, product(2048));
  machine.operands = 0;
  EXPECT_LT(predicted_seconds(machine, product(2048)), copied / 2);
}

/// More flops with the same factors take longer.
TEST(Predicted, AllSolversHaveATime) {
  const InventedRates rates;
  const auto machine = machine_with(1, 2, Placement::Home);
  const auto seconds = [&](LapackRoutine routine) { return predicted_seconds(machine, solver(routine, 1000)); };
  for (int routine = 0; routine < blas::lapack_routine_count; routine++) {
    const double of_it = seconds(LapackRoutine{routine});
    EXPECT_TRUE(std::isfinite(of_it) && of_it > 0) << blas::lapack_routines[routine].name;
  }
  EXPECT_GT(seconds(LapackRoutine::posv), seconds(LapackRoutine::potrf));
  EXPECT_GT(seconds(LapackRoutine::getri), seconds(LapackRoutine::getrf));
  EXPECT_GT(seconds(LapackRoutine::potrs), seconds(LapackRoutine::trtrs));
}

TEST(Predicted, EmptyCallsHaveNone) {
  const InventedRates rates;
  const auto machine = machine_with(1, 2, Placement::Home);
  EXPECT_EQ(predicted_seconds(machine, product(0)), 0);
  for (int routine = 0; routine < blas::lapack_routine_count; routine++)
    EXPECT_EQ(predicted_seconds(machine, solver(LapackRoutine{routine}, 0)), 0) << blas::lapack_routines[routine].name;
}

}  // namespace
}  // namespace tessera::test::predicted_cpp
