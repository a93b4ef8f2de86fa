// SPDX-License-Identifier: BSD-3-Clause
// What a blas::Call reports: the first illegal argument in the order of the BLAS, the equivalent column-major call,
// flops and compulsory bytes.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <functional>
#include <utility>

#include "blas/call.hpp"

namespace tessera::test::call_cpp {
namespace {

using blas::Call;
using blas::Routine;
using blas::Rules;
using blas::arguments::Argument;
using blas::arguments::explain;
using blas::arguments::Problem;

const double one = 1, zero = 0;
double memory = 0;

/// A legal product, 3×4 ← 3×5 · 5×4.
Call product() {
  return {.routine = Routine::gemm,
          .type = 'd',
          .m = 3,
          .n = 4,
          .k = 5,
          .alpha = &one,
          .A = &memory,
          .lda = 3,
          .B = &memory,
          .ldb = 5,
          .beta = &one,
          .C = &memory,
          .ldc = 3};
}

/// The result of the check after one change of a legal product.
Argument illegal_after(const std::function<void(Call&)>& change, Rules rules = Rules::All) {
  auto call = product();
  change(call);
  return first_illegal(call, Layout::ColMajor, rules);
}
int position_after(const std::function<void(Call&)>& change) { return illegal_after(change).position; }

constexpr Index beyond_int = blas::arguments::largest_int + 1, huge = Index{1} << 62;

TEST(FirstIllegal, HasThePositionOfTheBlas) {
  EXPECT_EQ(position_after([](auto&) {}), 0);
  EXPECT_EQ(position_after([](auto& c) { c.op_a = static_cast<Op>('X'); }), 1);
  EXPECT_EQ(position_after([](auto& c) { c.op_b = static_cast<Op>('n'); }), 2);
  EXPECT_EQ(position_after([](auto& c) { c.m = -1; }), 3);
  EXPECT_EQ(position_after([](auto& c) { c.n = -1; }), 4);
  EXPECT_EQ(position_after([](auto& c) { c.k = -1; }), 5);
  EXPECT_EQ(position_after([](auto& c) { c.A = nullptr; }), 7);
  EXPECT_EQ(position_after([](auto& c) { c.lda = 2; }), 8);
  EXPECT_EQ(position_after([](auto& c) { c.lda = beyond_int; }), 8);
  EXPECT_EQ(position_after([](auto& c) { c.B = nullptr; }), 9);
  EXPECT_EQ(position_after([](auto& c) { c.ldb = 4; }), 10);
  EXPECT_EQ(position_after([](auto& c) { c.ldb = beyond_int; }), 10);
  EXPECT_EQ(position_after([](auto& c) { c.C = nullptr; }), 12);
  EXPECT_EQ(position_after([](auto& c) { c.ldc = 2; }), 13);
  EXPECT_EQ(position_after([](auto& c) { c.ldc = beyond_int; }), 13);
  EXPECT_EQ(illegal_after([](auto& c) { c.lda = 2; }).value, 2);
  EXPECT_EQ(illegal_after([](auto& c) { c.lda = 2; }).bound, 3);
}

TEST(FirstIllegal, FollowsTheStoredMatrixNotItsOp) {
  EXPECT_EQ(position_after([](auto& c) { c.op_a = Op::Trans, c.lda = 4; }), 8);
  EXPECT_EQ(position_after([](auto& c) { c.op_a = Op::ConjTrans, c.lda = 5; }), 0);
  EXPECT_EQ(position_after([](auto& c) { c.op_b = Op::Trans, c.ldb = 3; }), 10);
  EXPECT_EQ(position_after([](auto& c) { c.op_b = Op::Trans, c.ldb = 4; }), 0);
}

TEST(FirstIllegal, IsALeadingDimensionBelow1EvenWithoutRows) {
  EXPECT_EQ(position_after([](auto& c) { c.m = 0, c.lda = 0; }), 8);
  EXPECT_EQ(position_after([](auto& c) { c.m = 0, c.ldc = 0; }), 13);
}

TEST(FirstIllegal, IsNotAMatrixThatIsNotAccessed) {
  EXPECT_EQ(position_after([](auto& c) { c.A = c.B = nullptr, c.alpha = &zero; }), 0);
  EXPECT_EQ(position_after([](auto& c) { c.A = c.B = nullptr, c.k = 0; }), 0);
  EXPECT_EQ(position_after([](auto& c) { c.A = c.B = c.C = nullptr, c.m = 0; }), 0);
  EXPECT_EQ(position_after([](auto& c) { c.A = c.B = c.C = nullptr, c.n = 0; }), 0);
  EXPECT_EQ(position_after([](auto& c) { c.C = nullptr, c.k = 0; }), 12);
}

// More bytes than an address space has: the check itself must not overflow.
TEST(FirstIllegal, IsAMatrixOfTooManyBytes) {
  EXPECT_EQ(position_after([](auto& c) { c.k = huge, c.ldb = blas::arguments::largest_int; }), 10);
  EXPECT_EQ(position_after([](auto& c) { c.k = huge, c.op_b = Op::Trans; }), 7);
  EXPECT_EQ(position_after([](auto& c) { c.n = huge; }), 9);
  EXPECT_EQ(position_after([](auto& c) { c.n = huge, c.alpha = &zero; }), 12);
}

TEST(FirstIllegal, IsTheFirstOfSeveral) {
  EXPECT_EQ(position_after([](auto& c) { c.m = -1, c.lda = 0, c.C = nullptr; }), 3);
  EXPECT_EQ(position_after([](auto& c) { c.A = nullptr, c.ldc = 0; }), 13);  // sizes before pointers
}

TEST(FirstIllegal, KnowsTheRulesOfTheBlasFromOurs) {
  const auto too_small = [](Call& c) { c.lda = 2; };
  const auto too_large = [](Call& c) { c.lda = beyond_int; };
  const auto null = [](Call& c) { c.B = nullptr; };
  EXPECT_EQ(illegal_after(too_small, Rules::Blas).position, 8);
  EXPECT_EQ(illegal_after(too_small, Rules::Ours).position, 0);
  for (const auto& [ours, position] : {std::pair<std::function<void(Call&)>, int>{too_large, 8}, {null, 9}}) {
    EXPECT_EQ(illegal_after(ours, Rules::Blas).position, 0);
    EXPECT_EQ(illegal_after(ours, Rules::Ours).position, position);
  }
}

TEST(Arguments, AreExplainedWithValueAndBound) {
  EXPECT_EQ(explain(Argument{8, "lda", Problem::TooSmall, 2, 3}), "is 2, must be at least 3");
  EXPECT_EQ(explain(Argument{8, "lda", Problem::TooLarge, 5, 4}), "is 5, must be at most 4");
  EXPECT_EQ(explain(Argument{1, "op_a", Problem::NotAnOp, 88, 0}),
            "is 88, must be NoTrans ('N'), Trans ('T') or ConjTrans ('C')");
}

TEST(Arguments, ThrowNothingWhenLegal) { EXPECT_NO_THROW(blas::arguments::require_legal("gemm", {})); }

/// A row-major call is legal exactly if the equivalent column-major one is, with the same stored matrices.
TEST(ByColumns, KeepsTheStoredMatrices) {
  for (int r = 0; r < blas::routine_count; r++) {
    const auto routine = static_cast<Routine>(r);
    const std::complex<double> alpha(2, 3);
    for (const Side side : {Side::Left, Side::Right})
      for (const Op op : {Op::NoTrans, Op::ConjTrans}) {
        const Call call{
            .routine = routine, .type = 'z', .side = side, .op_a = op, .m = 3, .n = 4, .k = 5, .alpha = &alpha};
        const blas::ByColumns columns(call, Layout::RowMajor);
        auto before = matrices(call, Layout::RowMajor), after = matrices(columns.call());
        if (columns.call().exchanged) std::swap(after[0], after[1]);
        for (std::size_t x = 0; x < 3; x++) {
          EXPECT_EQ(before[x].m, after[x].m) << call.name() << ' ' << x;
          EXPECT_EQ(before[x].n, after[x].n) << call.name() << ' ' << x;
        }
        EXPECT_EQ(flops(call), flops(columns.call())) << call.name();
        const auto now = *static_cast<const std::complex<double>*>(columns.call().alpha);
        EXPECT_EQ(now, routine == Routine::her2k ? std::conj(alpha) : alpha) << call.name();
        EXPECT_EQ(columns.call().exchanged, routine == Routine::gemm || routine == Routine::gemmt);
      }
  }
}

TEST(Parameters, HaveThePositionsOfTheBlas) {
  using Positions = std::array<int, 6>;  // A, lda, B, ldb, C, ldc; trmm and trsm call C B
  const auto of = [](Routine routine) {
    const auto [A, B, C] = matrices(Call{.routine = routine, .type = 'z'});
    return Positions{A.position, A.ld_position, B.position, B.ld_position, C.position, C.ld_position};
  };
  for (const auto routine : {Routine::gemm, Routine::gemmt}) EXPECT_EQ(of(routine), (Positions{7, 8, 9, 10, 12, 13}));
  for (const auto routine : {Routine::symm, Routine::hemm, Routine::syr2k, Routine::her2k})
    EXPECT_EQ(of(routine), (Positions{6, 7, 8, 9, 11, 12}));
  for (const auto routine : {Routine::syrk, Routine::herk}) EXPECT_EQ(of(routine), (Positions{6, 7, 0, 0, 9, 10}));
  for (const auto routine : {Routine::trmm, Routine::trsm}) EXPECT_EQ(of(routine), (Positions{8, 9, 0, 0, 10, 11}));
}

TEST(Flops, CountTheTermsOfTheElementsThatAreComputed) {
  const auto of = [](Routine routine, Side side = Side::Left, char type = 'd') {
    return flops(Call{.routine = routine, .type = type, .side = side, .m = 3, .n = 4, .k = 5});
  };
  EXPECT_EQ(of(Routine::gemm), 2 * 3 * 4 * 5);
  EXPECT_EQ(of(Routine::gemm, Side::Left, 'z'), 8 * 3 * 4 * 5);
  EXPECT_EQ(of(Routine::gemmt), 4 * 5 * 5);
  EXPECT_EQ(of(Routine::symm), 2 * 3 * 3 * 4);
  EXPECT_EQ(of(Routine::symm, Side::Right), 2 * 3 * 4 * 4);
  EXPECT_EQ(of(Routine::syrk), 4 * 5 * 5);
  EXPECT_EQ(of(Routine::syr2k), 2 * 4 * 5 * 5);
  EXPECT_EQ(of(Routine::trsm), 3 * 3 * 4);
  EXPECT_EQ(of(Routine::trmm, Side::Right), 3 * 4 * 4);
}

TEST(Traffic, CountsWhatIsReadAndWritten) {
  const auto of = [](Routine routine, const double* alpha, const double* beta) {
    const auto bytes =
        traffic(Call{.routine = routine, .type = 'd', .m = 3, .n = 4, .k = 5, .alpha = alpha, .beta = beta});
    return std::pair(bytes.in / 8, bytes.out / 8);
  };
  EXPECT_EQ(of(Routine::gemm, &one, &one), std::pair(15.0 + 20 + 12, 12.0));
  EXPECT_EQ(of(Routine::gemm, &one, &zero), std::pair(15.0 + 20, 12.0));
  EXPECT_EQ(of(Routine::gemm, &zero, &one), std::pair(12.0, 12.0));
  EXPECT_EQ(of(Routine::syrk, &one, &zero), std::pair(20.0, 10.0));
  EXPECT_EQ(of(Routine::syr2k, &one, &zero), std::pair(40.0, 10.0));
  EXPECT_EQ(of(Routine::symm, &one, &zero), std::pair(6.0 + 12, 12.0));
  EXPECT_EQ(of(Routine::trsm, &one, nullptr), std::pair(6.0 + 12, 12.0));
  EXPECT_EQ(of(Routine::trsm, &zero, nullptr), std::pair(0.0, 12.0));
}

}  // namespace
}  // namespace tessera::test::call_cpp
