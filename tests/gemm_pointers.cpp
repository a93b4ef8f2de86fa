// SPDX-License-Identifier: BSD-3-Clause
// gemm on pointers: the right numbers, for every op, around every tile boundary.
#include <tessera/blas.hpp>

#include "support/oracle.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 8;
const auto* const runtime = share_runtime(with_tile(tile));

/// Zero, one, around a tile, and two tiles and a ragged one.
constexpr std::array<Index, 6> sizes{0, 1, tile - 1, tile, tile + 1, 2 * tile + 5};

/// Two-tile problems for tests that vary something else than the shape.
constexpr Index m = tile + 3, n = 2 * tile + 1, k = tile + 2;

template <Scalar T>
void run(const Product<T>& p, HostMatrix<T>& C) {
  gemm<T>(p.op_a, p.op_b, C.m(), C.n(), p.k(), p.alpha, p.A.data(), p.A.ld(), p.B.data(), p.B.ld(), p.beta, C.data(),
          C.ld());
}

template <Scalar T>
class GemmPointers : public ::testing::Test {};
TYPED_TEST_SUITE(GemmPointers, ScalarTypes);

TYPED_TEST(GemmPointers, IsRightForAllOpsAndSizes) {
  using T = TypeParam;
  const auto factor = factors<T>();
  std::uint64_t seed = 0;  // also turns through leading dimensions and factors
  for (const Op op_a : all_ops)
    for (const Op op_b : all_ops)
      for (const Index rows : sizes)
        for (const Index columns : sizes)
          for (const Index terms : sizes) {
            seed++;
            const auto A = random_operand<T>(seed, op_a, rows, terms, seed % 4),
                       B = random_operand<T>(seed + 1, op_b, terms, columns, seed % 3);
            const auto before = random_matrix<T>(seed + 2, rows, columns, seed % 5);
            const Product<T> p{op_a, op_b, factor[seed % factor.size()], A, B, factor[seed / 7 % factor.size()]};
            auto C = before;
            run(p, C);
            ASSERT_TRUE(product_is_right(p, before, C)) << "seed " << seed;
          }
}

TYPED_TEST(GemmPointers, IsRightForAllFactors) {
  using T = TypeParam;
  for (const Op op_a : all_ops)
    for (const Op op_b : all_ops) {
      const auto A = random_operand<T>(1, op_a, m, k, 1), B = random_operand<T>(2, op_b, k, n, 2);
      const auto before = random_matrix<T>(3, m, n, 3);
      for (const T alpha : factors<T>())
        for (const T beta : factors<T>()) {
          const Product<T> p{op_a, op_b, alpha, A, B, beta};
          auto C = before;
          run(p, C);
          ASSERT_TRUE(product_is_right(p, before, C));
        }
    }
}

TYPED_TEST(GemmPointers, IsExactOnIntegers) {
  using T = TypeParam;
  constexpr Index size = 6 * tile + 5;
  for (const Op op_a : all_ops)
    for (const Op op_b : all_ops) {
      const auto A = integer_operand<T>(1, op_a, size, size, 1), B = integer_operand<T>(2, op_b, size, size);
      auto C = integer_matrix<T>(3, size, size, 2), expected = C;
      const Product<T> p{op_a, op_b, T(-2), A, B, T(3)};
      run(p, C);
      host_product(p, expected);
      ASSERT_TRUE(C.equals(expected)) << p;
    }
}

TYPED_TEST(GemmPointers, IsCutIntoTheTilesAskedFor) {
  using T = TypeParam;
  const auto A = random_matrix<T>(1, m, k), B = random_matrix<T>(2, k, n);
  HostMatrix<T> C(m, n);
  const auto before = statistics().tasks;
  run<T>({Op::NoTrans, Op::NoTrans, T(1), A, B, T(0)}, C);
  EXPECT_EQ(statistics().tasks - before, 2 * 3 * 2);  // or the tests here would test little
}

TYPED_TEST(GemmPointers, LeavesInputsAlone) {
  using T = TypeParam;
  const auto A = random_matrix<T>(1, m, k, 3), B = random_matrix<T>(2, k, n, 3);
  const auto A_before = A, B_before = B;
  auto C = random_matrix<T>(3, m, n);
  run<T>({Op::NoTrans, Op::NoTrans, T(1), A, B, T(1)}, C);
  EXPECT_TRUE(A == A_before);
  EXPECT_TRUE(B == B_before);
}

TYPED_TEST(GemmPointers, TakesTheSameInputTwice) {
  using T = TypeParam;
  const auto A = random_matrix<T>(1, m, m, 2);
  const auto before = random_matrix<T>(3, m, m);
  auto C = before;
  const Product<T> p{Op::NoTrans, Op::ConjTrans, T(1), A, A, T(1)};
  run(p, C);
  EXPECT_TRUE(product_is_right(p, before, C));
}

TYPED_TEST(GemmPointers, SameCallGivesSameBits) {
  using T = TypeParam;
  constexpr Index size = 5 * tile + 3;
  const auto A = random_matrix<T>(1, size, size), B = random_matrix<T>(2, size, size);
  const auto before = random_matrix<T>(3, size, size);
  const Product<T> p{Op::NoTrans, Op::NoTrans, factors<T>().back(), A, B, T(1)};
  auto first = before;
  run(p, first);
  for (int repeat = 0; repeat < 5; repeat++) {
    auto again = before;
    run(p, again);
    ASSERT_TRUE(again == first);
  }
}

}  // namespace
}  // namespace tessera::test
