// SPDX-License-Identifier: BSD-3-Clause
// Calls by threads that do not compute in the usual floating-point mode.
#include "common/float_mode.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/lapack.hpp>
#include <tessera/matrix.hpp>

#include "support/error_of.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

using namespace common::float_mode;

constexpr Index n = 50;
const auto* const runtime = share_runtime(with_tile(16));

bool on_gpus() { return gpu_count() > 0; }

std::vector<double> fractions(unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> A(n * n);
  for (auto& a : A) a = number(random);
  return A;
}

std::vector<double> product(const std::vector<double>& A, const std::vector<double>& B) {
  std::vector<double> C(n * n);
  gemm<double>(Op::NoTrans, Op::NoTrans, n, n, n, 1, A.data(), n, B.data(), n, 0, C.data(), n);
  return C;
}

/// Sums of n rounded terms are never exact, so each element shows how it was rounded.
TEST(FloatMode, OfTheCallerIsThatOfCpuWorkers) {
  if (on_gpus()) GTEST_SKIP() << "GPUs have one mode";
  const auto A = fractions(1), B = fractions(2), nearest = product(A, B);
  std::vector<double> low, high;
  {
    const Within mode(downward);
    low = product(A, B);
  }
  {
    const Within mode(upward);
    high = product(A, B);
    EXPECT_EQ(current(), upward);
  }
  for (std::size_t i = 0; i < low.size(); i++) {
    EXPECT_LT(low[i], high[i]) << i;
    EXPECT_LE(low[i], nearest[i]) << i;
    EXPECT_LE(nearest[i], high[i]) << i;
  }
  EXPECT_EQ(product(A, B), nearest) << "the workers have kept a mode";
}

/// The call returns before its tasks run.
TEST(FloatMode, IsThatOfTheMomentOfTheCall) {
  if (on_gpus()) GTEST_SKIP() << "GPUs have one mode";
  std::vector<double> small(n * n, 1e-310), unit(n * n), C(n * n, 1), D(n * n, 1);
  for (std::size_t i = 0; i < unit.size(); i += n + 1) unit[i] = 1;
  {
    const Matrix<double> S(small.data(), n, n, n), I(unit.data(), n, n, n), flushed(C.data(), n, n, n),
        kept(D.data(), n, n, n);
    {
      const Within mode(flush_to_zero | denormals_are_zero);
      gemm<double>(Op::NoTrans, Op::NoTrans, 1, S, I, 0, flushed);
    }
    gemm<double>(Op::NoTrans, Op::NoTrans, 1, S, I, 0, kept);
    wait();
  }
  EXPECT_EQ(std::ranges::count(C, 0.0), std::ssize(C));
  EXPECT_EQ(D, small);
}

TEST(FloatMode, IsRefusedWhereGpusDoNotHaveIt) {
  if (!on_gpus()) GTEST_SKIP() << "CPU workers have it";
  const auto A = fractions(1);
  const auto in = [&](Bits mode) {
    const Within that(mode);
    return error_of([&] { product(A, A); });
  };
  EXPECT_THAT(in(upward), ::testing::HasSubstr("the calling thread rounds upward"));
  EXPECT_THAT(in(flush_to_zero), ::testing::HasSubstr("the calling thread flushes denormals to zero"));
  EXPECT_EQ(in(usual), "");
}

TEST(FloatMode, HasWords) {
  EXPECT_EQ(text(downward), "rounds downward");
  EXPECT_EQ(text(rounding), "rounds toward zero");
  EXPECT_EQ(text(upward | flush_to_zero), "rounds upward and flushes denormals to zero");
  EXPECT_EQ(text(denormals_are_zero), "flushes denormals to zero");
}

}  // namespace
}  // namespace tessera::test
