// SPDX-License-Identifier: BSD-3-Clause
// Factorizations, solves and inverses of the kinds of matrices that LAPACK's testers use, in sizes around those of
// tiles: every residual is below LAPACK's threshold, and `info` names the singular column.
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tessera/lapack.hpp>

#include "support/residuals.hpp"
#include "support/runtime.hpp"
#include "support/tested_types.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 16;
const auto* const runtime = share_runtime(with_tile(tile));

/// The condition number of ill-conditioned matrices. In single precision, it leaves the same number of digits.
template <Scalar T>
constexpr double ill_condition = std::is_same_v<Real<T>, float> ? 1e4 : 1e12;

/// A ← H A (Left) or A H (Right), where H = I − 2 v vᴴ / vᴴ v is unitary.
template <Scalar T>
void reflect(Side side, const std::vector<T>& v, Dense<T>& A) {
  const bool left = side == Side::Left;
  const auto at = [&](Index i, Index j) -> T& { return left ? A(i, j) : A(j, i); };
  const auto entry = [&](Index i) {
    return left ? v[static_cast<std::size_t>(i)] : conjugate(v[static_cast<std::size_t>(i)]);
  };
  Real<T> square = 0;
  for (const T x : v) square += std::norm(x);
  for (Index j = 0; j < (left ? A.n : A.m); j++) {
    T sum{};
    for (Index i = 0; i < std::ssize(v); i++) sum += conjugate(entry(i)) * at(i, j);
    for (Index i = 0; i < std::ssize(v); i++) at(i, j) -= sum * entry(i) * (Real<T>(2) / square);
  }
}

/// An m×n matrix with given singular values. If it is to be Hermitian, they are its eigenvalues.
template <Scalar T>
Dense<T> with_singular_values(Index m, Index n, bool hermitian, const std::function<double(Index)>& value) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(1000 * m + n));
  Dense<T> A(m, n, Layout::ColMajor, 3);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < m; i++) A(i, j) = i == j ? T(static_cast<Real<T>>(value(i))) : T{};
  for (int count = 0; count < 2; count++) {
    std::vector<T> left(static_cast<std::size_t>(m)), right(static_cast<std::size_t>(n));
    for (auto* v : {&left, &right})
      for (T& x : *v) x = random_element<T>(engine);
    if (hermitian) right = left;
    if (m == 0 || n == 0) break;
    reflect(Side::Left, left, A), reflect(Side::Right, right, A);
  }
  return A;
}

/// A kind of matrix.
struct Kind {
  const char* name;
  double (*value)(Index i, Index order, double condition);  ///< singular value i
  bool graded = false;      ///< rows and columns are scaled, each over 12 binary orders of magnitude
  double singular_at = -1;  ///< position of a column of zeros, as a fraction of the order; < 0: none
};

double between_one_and_two(Index i, Index order, double /*condition*/) {
  return 1 + static_cast<double>(i) / static_cast<double>(order);
}
double falling(Index i, Index order, double condition) {
  return order == 1 ? 1 : std::pow(condition, -static_cast<double>(i) / static_cast<double>(order - 1));
}

constexpr Kind kinds[] = {
    {"random", between_one_and_two},
    {"graded", between_one_and_two, true},
    {"ill-conditioned", falling},
    {"with a first column of zeros", between_one_and_two, false, 0},
    {"with a column of zeros in the middle", between_one_and_two, false, 0.5},
    {"with a last column of zeros", between_one_and_two, false, 1},
};

/// No tile, one tile, less and more than a tile, and several with a ragged last one.
constexpr Index sizes[] = {0, 1, tile - 1, tile, tile + 1, 3 * tile + 5};

/// The column of zeros, counted from 0.
std::optional<Index> zero_column(const Kind& kind, Index order) {
  if (kind.singular_at < 0 || order == 0) return std::nullopt;
  return static_cast<Index>(kind.singular_at * static_cast<double>(order - 1));
}

template <Scalar T>
Dense<T> matrix_of(const Kind& kind, Index m, Index n, bool hermitian) {
  const Index order = std::min(m, n);
  auto A = with_singular_values<T>(m, n, hermitian, [&](Index i) { return kind.value(i, order, ill_condition<T>); });
  const auto zero = zero_column(kind, order);
  const auto scale = [&](Index i, Index size) {
    return kind.graded ? static_cast<Real<T>>(std::exp2(-12.0 * static_cast<double>(i) / static_cast<double>(size)))
                       : 1;
  };
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < m; i++) {
      A(i, j) *= scale(i, m) * scale(j, n);
      if (j == zero || (hermitian && i == zero)) A(i, j) = T{};
      if (hermitian && i == j) A(i, j) = T(std::real(A(i, j)));
    }
  return A;
}

/// @param output  the output of the routine
template <Scalar T>
void expect_small(const char* routine, double residual, const Dense<T>& output) {
  EXPECT_LE(residual, threshold) << routine;  // false for NaN
  EXPECT_TRUE(padding_is_intact(output)) << routine;
}

template <typename T>
class LapackResiduals : public ::testing::Test {
 protected:
  /// potrf, potrs and potri.
  static void check_positive(const Kind& kind, Index n, Uplo uplo) {
    const auto A = matrix_of<T>(kind, n, n, true);
    auto factor = A;
    const Index info = potrf(uplo, n, factor.data.data(), factor.ld);
    if (const auto zero = zero_column(kind, n)) {
      EXPECT_EQ(info, *zero + 1) << "potrf";
      return;
    }
    ASSERT_EQ(info, 0) << "potrf";
    expect_small("potrf", residual(A, factor, uplo), factor);
    const auto B = random_matrix<T>(n, 5, 1, Layout::ColMajor, 2);
    auto X = B;
    potrs(uplo, n, 5, factor.data.data(), factor.ld, X.data.data(), X.ld);
    expect_small("potrs", residual_of_solution(A, B, X), X);
    ASSERT_EQ(potri(uplo, n, factor.data.data(), factor.ld), 0);
    expect_small("potri", residual_of_inverse(packed(A), hermitian(factor, uplo)), factor);
  }

  /// getrf, getrs and getri.
  static void check_general(const Kind& kind, Index m, Index n) {
    const auto A = matrix_of<T>(kind, m, n, false);
    auto factors = A;
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(std::min(m, n)));
    const Index info = getrf(m, n, factors.data.data(), factors.ld, pivots.data());
    const auto zero = zero_column(kind, std::min(m, n));
    EXPECT_EQ(info, zero ? *zero + 1 : 0) << "getrf";
    expect_small("getrf", residual(A, factors, pivots), factors);  // singular matrices are factorized to the end
    if (m != n) return;
    if (zero) {
      EXPECT_EQ(getri(n, factors.data.data(), factors.ld, pivots.data()), *zero + 1) << "getri";
      return;
    }
    const auto B = random_matrix<T>(n, 5, 1, Layout::ColMajor, 2);
    auto X = B;
    getrs(Op::NoTrans, n, 5, factors.data.data(), factors.ld, pivots.data(), X.data.data(), X.ld);
    expect_small("getrs", residual_of_solution(A, B, X), X);
    ASSERT_EQ(getri(n, factors.data.data(), factors.ld, pivots.data()), 0);
    expect_small("getri", residual_of_inverse(packed(A), packed(factors)), factors);
  }

  /// trtri of a triangle of a factor, which is as ill-conditioned as its matrix.
  static void check_triangle(const Kind& kind, Index n, Uplo uplo) {
    auto A = matrix_of<T>(kind, n, n, false);
    if (const auto zero = zero_column(kind, n)) {
      A(*zero, *zero) = T{};
      EXPECT_EQ(trtri(uplo, Diag::NonUnit, n, A.data.data(), A.ld), *zero + 1) << "trtri";
      return;
    }
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
    ASSERT_EQ(getrf(n, n, A.data.data(), A.ld, pivots.data()), 0);
    const auto diag = uplo == Uplo::Lower ? Diag::Unit : Diag::NonUnit;
    auto inverse = A;
    ASSERT_EQ(trtri(uplo, diag, n, inverse.data.data(), inverse.ld), 0);
    expect_small("trtri", residual_of_inverse(triangle_of(A, uplo, diag), triangle_of(inverse, uplo, diag)), inverse);
  }
};
TYPED_TEST_SUITE(LapackResiduals, ScalarTypes);

TYPED_TEST(LapackResiduals, AreSmallForAllKindsAndSizes) {
  for (const auto& kind : kinds)
    for (const Index n : sizes) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", " + kind.name);
      for (const auto uplo : {Uplo::Lower, Uplo::Upper}) {
        this->check_positive(kind, n, uplo);
        this->check_triangle(kind, n, uplo);
      }
      for (const Index m : {n, n + tile - 3, n + 1, n / 2}) {
        SCOPED_TRACE("m = " + std::to_string(m));
        this->check_general(kind, m, n);
      }
    }
}

}  // namespace
}  // namespace tessera::test
