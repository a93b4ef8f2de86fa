// SPDX-License-Identifier: BSD-3-Clause
// gemm on pointers refuses every illegal argument, by its BLAS position, and touches nothing.
#include <tessera/blas.hpp>

#include "support/matrices.hpp"
#include "support/refused.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime();

constexpr Index beyond_int = Index{1} << 31, huge = Index{1} << 62;

/// The arguments of a legal 6×5 ← 6×7 · 7×5, to be spoiled.
template <Scalar T>
struct Call {
  Op op_a = Op::NoTrans, op_b = Op::NoTrans;
  Index m = 6, n = 5, k = 7;
  T alpha = T(1);
  const T* A;
  Index lda = 6;
  const T* B;
  Index ldb = 7;
  T beta = T(1);
  T* C;
  Index ldc = 6;

  void operator()() const { gemm<T>(op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc); }
};

template <Scalar T>
class BadPointers : public ::testing::Test {
 protected:
  using Error = ArgumentError;

  template <typename Spoil>
  void refused(Spoil spoil, int position, const char* name, const std::string& problem) {
    const auto A = A_, B = B_, C = C_;
    Call<T> call{.A = A_.data(), .B = B_.data(), .C = C_.data()};
    spoil(call);
    expect_refused<ArgumentError>(call, "gemm", position, name, problem);
    EXPECT_TRUE(A_ == A && B_ == B && C_ == C) << "touched an operand";
  }

  HostMatrix<T> A_ = random_matrix<T>(1, 6, 7), B_ = random_matrix<T>(2, 7, 5), C_ = random_matrix<T>(3, 6, 5);
};
TYPED_TEST_SUITE(BadPointers, ScalarTypes);

TYPED_TEST(BadPointers, IsNotAnOp) {
  this->refused([](auto& c) { c.op_a = static_cast<Op>('X'); }, 1, "op_a", "is 88");
  this->refused([](auto& c) { c.op_b = static_cast<Op>('?'); }, 2, "op_b", "is 63");
}

TYPED_TEST(BadPointers, IsANegativeSize) {
  this->refused([](auto& c) { c.m = -1; }, 3, "m", "-1");
  this->refused([](auto& c) { c.n = -20; }, 4, "n", "-20");
  this->refused([](auto& c) { c.k = -300; }, 5, "k", "-300");
  this->refused([](auto& c) { c.m = std::numeric_limits<Index>::min(); }, 3, "m", "-9223372036854775808");
}

TYPED_TEST(BadPointers, IsALeadingDimensionThatIsTooSmall) {
  this->refused([](auto& c) { c.lda = 5; }, 8, "lda", "is 5, must be at least 6");
  this->refused([](auto& c) { c.op_a = Op::Trans; }, 8, "lda", "is 6, must be at least 7");
  this->refused([](auto& c) { c.ldb = 6; }, 10, "ldb", "is 6, must be at least 7");
  this->refused([](auto& c) { c.op_b = Op::ConjTrans, c.ldb = 4; }, 10, "ldb", "is 4, must be at least 5");
  this->refused([](auto& c) { c.ldc = 5; }, 13, "ldc", "is 5, must be at least 6");
  this->refused([](auto& c) { c.m = 0, c.ldc = 0; }, 13, "ldc", "is 0, must be at least 1");
  this->refused([](auto& c) { c.lda = -6; }, 8, "lda", "is -6");
}

TYPED_TEST(BadPointers, IsALeadingDimensionThatIsTooLarge) {
  this->refused([](auto& c) { c.lda = beyond_int; }, 8, "lda", "is 2147483648, must be at most 2147483647");
  this->refused([](auto& c) { c.ldb = beyond_int; }, 10, "ldb", "2147483648");
  this->refused([](auto& c) { c.ldc = beyond_int; }, 13, "ldc", "2147483648");
}

TYPED_TEST(BadPointers, IsNull) {
  this->refused([](auto& c) { c.A = nullptr; }, 7, "A", "null");
  this->refused([](auto& c) { c.B = nullptr; }, 9, "B", "null");
  this->refused([](auto& c) { c.C = nullptr; }, 12, "C", "null");
  this->refused([](auto& c) { c.C = nullptr, c.alpha = 0; }, 12, "C", "null");
}

TYPED_TEST(BadPointers, IsASizeWhoseBytesOverflow) {
  this->refused([](auto& c) { c.n = huge; }, 9, "B", "4611686018427387904 columns");
  this->refused([](auto& c) { c.n = huge, c.alpha = 0; }, 12, "C", "4611686018427387904 columns");
  this->refused([](auto& c) { c.k = huge, c.op_b = Op::Trans; }, 7, "A", "4611686018427387904 columns");
}

TYPED_TEST(BadPointers, IsOnlyTheFirstOfSeveral) {
  this->refused([](auto& c) { c.m = -1, c.ldc = 0, c.A = nullptr; }, 3, "m", "-1");
  this->refused([](auto& c) { c.op_b = static_cast<Op>(0), c.n = -1; }, 2, "op_b", "is 0, must be");
}

// An output that shares memory with an input has the position of C in this argument list.
TYPED_TEST(BadPointers, IsAnOutputThatIsAnInput) {
  using T = TypeParam;
  auto A = random_matrix<T>(4, 8, 8), B = random_matrix<T>(5, 8, 8);
  const auto A_before = A, B_before = B;
  const auto call = [&](const T* left, const T* right, T* result) {
    expect_refused<ShapeError>(
        [&] { gemm<T>(Op::NoTrans, Op::NoTrans, 4, 4, 4, T(1), left, 8, right, 8, T(1), result, 8); }, "gemm", 12, "C",
        "shares memory with the input");
  };
  call(A.data(), B.data(), A.data());
  call(B.data(), A.data(), A.data());
  call(A.data(), B.data(), &A(3, 3));  // one element in common
  EXPECT_TRUE(A == A_before && B == B_before);
}

TYPED_TEST(BadPointers, AreNotPartsOfOneArrayThatInterleave) {
  using T = TypeParam;
  auto A = integer_matrix<T>(4, 8, 4);  // rows 0…3 times B into rows 4…7
  const auto B = integer_matrix<T>(5, 4, 4);
  auto expected = A;
  gemm<T>(Op::NoTrans, Op::NoTrans, 4, 4, 4, T(1), A.data(), 8, B.data(), 4, T(1), &A(4, 0), 8);
  for (Index j = 0; j < 4; j++)
    for (Index i = 0; i < 4; i++)
      for (Index l = 0; l < 4; l++) expected(4 + i, j) += expected(i, l) * B(l, j);
  EXPECT_TRUE(A.equals(expected));
}

}  // namespace
}  // namespace tessera::test
