// SPDX-License-Identifier: BSD-3-Clause
// gemm on pointers: what BLAS says is not read is not read, and what it says is not touched is not touched.
#include <cmath>

#include <tessera/blas.hpp>

#include "support/oracle.hpp"

namespace tessera::test {
namespace {

constexpr Index m = 11, n = 17, k = 10;  // several tiles of the 8 that gemm_pointers.cpp sets

template <Scalar T>
class GemmUnread : public ::testing::Test {};
TYPED_TEST_SUITE(GemmUnread, ScalarTypes);

/// C ← β C, by the definition.
template <Scalar T>
HostMatrix<T> scaled(T beta, HostMatrix<T> C) {
  for (Index j = 0; j < C.n(); j++)
    for (Index i = 0; i < C.m(); i++) C(i, j) = beta == T{} ? T{} : beta * C(i, j);
  return C;
}

TYPED_TEST(GemmUnread, BetaZeroDoesNotReadC) {
  using T = TypeParam;
  for (const Op op_a : all_ops)
    for (const Op op_b : all_ops) {
      const auto A = random_operand<T>(1, op_a, m, k), B = random_operand<T>(2, op_b, k, n);
      HostMatrix<T> C(m, n, 2);  // all NaN
      gemm<T>(op_a, op_b, m, n, k, T(1), A.data(), A.ld(), B.data(), B.ld(), T(0), C.data(), C.ld());
      ASSERT_TRUE(product_is_right<T>({op_a, op_b, T(1), A, B, T(0)}, C, C));
    }
}

TYPED_TEST(GemmUnread, AlphaZeroDoesNotReadAOrB) {
  using T = TypeParam;
  const HostMatrix<T> A(m, k), B(k, n);  // all NaN
  const auto before = integer_matrix<T>(1, m, n, 2);
  for (const T beta : {T(0), T(1), T(-2)}) {
    auto C = before;
    gemm<T>(Op::NoTrans, Op::NoTrans, m, n, k, T(0), A.data(), A.ld(), B.data(), B.ld(), beta, C.data(), C.ld());
    EXPECT_TRUE(C.equals(scaled(beta, before))) << "beta " << beta;
  }
}

TYPED_TEST(GemmUnread, AlphaZeroTakesNullAAndB) {
  using T = TypeParam;
  const auto before = integer_matrix<T>(1, m, n, 2);
  for (const T beta : {T(0), T(1), T(3)}) {
    auto C = before;
    gemm<T>(Op::NoTrans, Op::Trans, m, n, k, T(0), nullptr, m, nullptr, n, beta, C.data(), C.ld());
    EXPECT_TRUE(C.equals(scaled(beta, before))) << "beta " << beta;
  }
}

TYPED_TEST(GemmUnread, EmptySumScalesC) {
  using T = TypeParam;
  const auto before = integer_matrix<T>(1, m, n, 2);
  for (const T beta : {T(0), T(1), T(3)}) {
    auto C = before;
    gemm<T>(Op::NoTrans, Op::NoTrans, m, n, 0, T(1), nullptr, m, nullptr, 1, beta, C.data(), C.ld());
    EXPECT_TRUE(C.equals(scaled(beta, before))) << "beta " << beta;
  }
}

TYPED_TEST(GemmUnread, EmptySumClearsNan) {
  using T = TypeParam;
  HostMatrix<T> C(m, n, 2);
  gemm<T>(Op::NoTrans, Op::NoTrans, m, n, 0, T(1), nullptr, m, nullptr, 1, T(0), C.data(), C.ld());
  EXPECT_TRUE(C.equals(scaled(T(0), C)));
}

TYPED_TEST(GemmUnread, BetaOneWithNothingToAddTouchesNothing) {
  using T = TypeParam;
  HostMatrix<T> C(m, n, 2);  // all NaN: 1 · NaN would be NaN, but maybe another one
  const auto before = C;
  gemm<T>(Op::NoTrans, Op::NoTrans, m, n, 0, T(1), nullptr, m, nullptr, 1, T(1), C.data(), C.ld());
  gemm<T>(Op::NoTrans, Op::NoTrans, m, n, k, T(0), nullptr, m, nullptr, k, T(1), C.data(), C.ld());
  EXPECT_TRUE(C == before);
}

TYPED_TEST(GemmUnread, EmptyResultTakesNullEverywhere) {
  using T = TypeParam;
  EXPECT_NO_THROW(gemm<T>(Op::NoTrans, Op::NoTrans, 0, n, k, T(1), nullptr, 1, nullptr, k, T(0), nullptr, 1));
  EXPECT_NO_THROW(gemm<T>(Op::NoTrans, Op::NoTrans, m, 0, k, T(1), nullptr, m, nullptr, k, T(0), nullptr, m));
  EXPECT_NO_THROW(gemm<T>(Op::Trans, Op::ConjTrans, 0, 0, 0, T(1), nullptr, 1, nullptr, 1, T(0), nullptr, 1));
}

TYPED_TEST(GemmUnread, NanInAnInputReachesItsRowOnly) {
  using T = TypeParam;
  auto A = random_matrix<T>(1, m, k);
  const auto B = random_matrix<T>(2, k, n);
  A(3, 9) = T(std::numeric_limits<Real<T>>::quiet_NaN());
  HostMatrix<T> C(m, n);
  gemm<T>(Op::NoTrans, Op::NoTrans, m, n, k, T(1), A.data(), A.ld(), B.data(), B.ld(), T(0), C.data(), C.ld());
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < m; i++) ASSERT_EQ(std::isnan(std::real(C(i, j))), i == 3) << i << ", " << j;
}

}  // namespace
}  // namespace tessera::test
