// SPDX-License-Identifier: BSD-3-Clause
// Factors of any type.
#include "common/number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tessera::test::number_cpp {
namespace {

template <Scalar T>
void expect_kept(T x) {
  EXPECT_EQ(T(common::Number(x)), x);
}

TEST(Number, HoldsTheValuesOfEachTypeExactly) {
  constexpr float s = 0.1F, tiny = std::numeric_limits<float>::denorm_min();
  constexpr double d = 0.1, large = std::numeric_limits<double>::max();
  expect_kept(s), expect_kept(tiny), expect_kept(d), expect_kept(large);
  expect_kept(std::complex<float>(s, -tiny));
  expect_kept(std::complex<double>(d, -large));
}

TEST(Number, ComparesAsNumbersDo) {
  EXPECT_EQ(common::Number(-0.0), 0);
  EXPECT_NE(common::Number(std::complex<double>(0, 1)), 0);
  EXPECT_NE(common::Number(std::nan("")), common::Number(std::nan("")));
}

TEST(Number, IsConjugatedOnRequest) {
  const common::Number x(std::complex<float>(1, 2));
  EXPECT_EQ(std::complex<float>(common::conjugated_if(true, x)), std::complex<float>(1, -2));
  EXPECT_EQ(common::conjugated_if(false, x), x);
}

}  // namespace
}  // namespace tessera::test::number_cpp
