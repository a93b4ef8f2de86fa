// SPDX-License-Identifier: BSD-3-Clause
// The argument checks, evaluated at compile time: they find the first illegal argument in the order of the BLAS.
#include "blas/arguments.hpp"

#include <gtest/gtest.h>

namespace tessera::test {
namespace {

using arguments::Argument;
using arguments::explain;
using arguments::first_illegal;
using arguments::Problem;
using arguments::ProductCall;

constexpr double memory = 0;

/// The result of the check for a legal product, 3×4 ← 3×5 · 5×4, after one change.
template <typename Change>
constexpr Argument illegal_after(Change change) {
  ProductCall call{{8, false}, Op::NoTrans, Op::NoTrans, 3, 4, 5, &memory, 3, &memory, 5, &memory, 3, true};
  change(call);
  return first_illegal(call);
}

template <typename Change>
constexpr int position_after(Change change) {
  return illegal_after(change).position;
}

constexpr Index beyond_int = arguments::largest_int + 1, huge = Index{1} << 62;

static_assert(position_after([](auto&) {}) == 0);
static_assert(position_after([](auto& c) { c.op_a = static_cast<Op>('X'); }) == 1);
static_assert(position_after([](auto& c) { c.op_b = static_cast<Op>('n'); }) == 2);
static_assert(position_after([](auto& c) { c.m = -1; }) == 3);
static_assert(position_after([](auto& c) { c.n = -1; }) == 4);
static_assert(position_after([](auto& c) { c.k = -1; }) == 5);
static_assert(position_after([](auto& c) { c.A = nullptr; }) == 7);
static_assert(position_after([](auto& c) { c.lda = 2; }) == 8);
static_assert(position_after([](auto& c) { c.lda = beyond_int; }) == 8);
static_assert(position_after([](auto& c) { c.B = nullptr; }) == 9);
static_assert(position_after([](auto& c) { c.ldb = 4; }) == 10);
static_assert(position_after([](auto& c) { c.ldb = beyond_int; }) == 10);
static_assert(position_after([](auto& c) { c.C = nullptr; }) == 12);
static_assert(position_after([](auto& c) { c.ldc = 2; }) == 13);
static_assert(position_after([](auto& c) { c.ldc = beyond_int; }) == 13);

// The shape of the stored matrix decides, not that of its op.
static_assert(position_after([](auto& c) { c.op_a = Op::Trans, c.lda = 4; }) == 8);
static_assert(position_after([](auto& c) { c.op_a = Op::ConjTrans, c.lda = 5; }) == 0);
static_assert(position_after([](auto& c) { c.op_b = Op::Trans, c.ldb = 3; }) == 10);
static_assert(position_after([](auto& c) { c.op_b = Op::Trans, c.ldb = 4; }) == 0);

// A leading dimension is at least 1 even where there are no rows.
static_assert(position_after([](auto& c) { c.m = 0, c.lda = 0; }) == 8);
static_assert(position_after([](auto& c) { c.m = 0, c.ldc = 0; }) == 13);

// Null is legal for a matrix that is not accessed.
static_assert(position_after([](auto& c) { c.A = c.B = nullptr, c.reads_product = false; }) == 0);
static_assert(position_after([](auto& c) { c.A = c.B = nullptr, c.k = 0; }) == 0);
static_assert(position_after([](auto& c) { c.A = c.B = c.C = nullptr, c.m = 0; }) == 0);
static_assert(position_after([](auto& c) { c.A = c.B = c.C = nullptr, c.n = 0; }) == 0);
static_assert(position_after([](auto& c) { c.C = nullptr, c.k = 0; }) == 12);

// More bytes than an address space has: the check itself must not overflow.
static_assert(position_after([](auto& c) { c.k = huge, c.ldb = arguments::largest_int; }) == 10);
static_assert(position_after([](auto& c) { c.k = huge, c.op_b = Op::Trans; }) == 7);
static_assert(position_after([](auto& c) { c.n = huge; }) == 9);
static_assert(position_after([](auto& c) { c.n = huge, c.reads_product = false; }) == 12);

// With several illegal arguments, the first is reported.
static_assert(position_after([](auto& c) { c.m = -1, c.lda = 0, c.C = nullptr; }) == 3);
static_assert(position_after([](auto& c) { c.A = nullptr, c.ldc = 0; }) == 13);  // sizes before pointers

static_assert(illegal_after([](auto& c) { c.lda = 2; }).value == 2);
static_assert(illegal_after([](auto& c) { c.lda = 2; }).bound == 3);

TEST(Arguments, AreExplainedWithValueAndBound) {
  EXPECT_EQ(explain(Argument{8, "lda", Problem::TooSmall, 2, 3}), "is 2, must be at least 3");
  EXPECT_EQ(explain(Argument{8, "lda", Problem::TooLarge, 5, 4}), "is 5, must be at most 4");
  EXPECT_EQ(explain(Argument{1, "op_a", Problem::NotAnOp, 88, 0}),
            "is 88, must be NoTrans ('N'), Trans ('T') or ConjTrans ('C')");
}

TEST(Arguments, ThrowNothingWhenLegal) { EXPECT_NO_THROW(arguments::require_legal("gemm", {})); }

}  // namespace
}  // namespace tessera::test
