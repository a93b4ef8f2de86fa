// SPDX-License-Identifier: BSD-3-Clause
// The pool of slots for the results of `inspect`.
#include "codelets/sum_slots.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tessera::test::sum_slots_cpp {
namespace {

namespace sum_slots = codelets::sum_slots;

TEST(SumSlots, AreTakenOnceUntilTheyAreReturned) {
  EXPECT_EQ(sum_slots::take<double>(), nullptr) << "a pool without memory";
  std::array<double, 2> memory{};
  sum_slots::add(memory);
  auto* const a = sum_slots::take<double>();
  auto* const b = sum_slots::take<std::complex<double>>();
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_NE(a, b);
  EXPECT_EQ(sum_slots::take<float>(), nullptr) << "both are in use";
  *a = *b = 1;
  sum_slots::give_back(a);
  sum_slots::give_back(nullptr);
  auto* const again = sum_slots::take<float>();
  ASSERT_EQ(static_cast<void*>(again), a);
  EXPECT_TRUE(std::isnan(*again)) << "the old sum may be finite";
  EXPECT_EQ(sum_slots::take<float>(), nullptr);
  sum_slots::give_back(again);
  sum_slots::give_back(b);
  sum_slots::clear();
  EXPECT_EQ(sum_slots::take<double>(), nullptr);
}

}  // namespace
}  // namespace tessera::test::sum_slots_cpp
