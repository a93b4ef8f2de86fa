// SPDX-License-Identifier: BSD-3-Clause
// The pool of slots for the results of `inspect`.
#include "memory/sum_slots.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tessera::test::sum_slots_cpp {
namespace {

namespace sum_slots = memory::sum_slots;

TEST(SumSlots, AreTakenOnceUntilTheyAreReturned) {
  EXPECT_EQ(sum_slots::take('d'), nullptr) << "a pool without memory";
  std::array<double, 2> memory{};
  sum_slots::add(memory);
  auto* const a = static_cast<double*>(sum_slots::take('d'));
  auto* const b = static_cast<double*>(sum_slots::take('z'));
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_NE(a, b);
  EXPECT_EQ(sum_slots::take('s'), nullptr) << "both are in use";
  *a = *b = 1;
  sum_slots::give_back(a);
  sum_slots::give_back(nullptr);
  auto* const again = static_cast<float*>(sum_slots::take('s'));
  ASSERT_EQ(static_cast<void*>(again), static_cast<void*>(a));
  EXPECT_TRUE(std::isnan(*again)) << "the old sum may be finite";
  EXPECT_EQ(sum_slots::take('s'), nullptr);
  sum_slots::give_back(again);
  sum_slots::give_back(b);
  sum_slots::clear();
  EXPECT_EQ(sum_slots::take('d'), nullptr);
}

}  // namespace
}  // namespace tessera::test::sum_slots_cpp
