// SPDX-License-Identifier: BSD-3-Clause
// getrf_nopiv, getrs_nopiv and gesv_nopiv, on pointers and on matrices: residuals as LAPACK's testers define them, a
// plain factorization, its growth, and bad input.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <tessera/lapack.hpp>

#include "support/dense.hpp"
#include "support/residuals.hpp"
#include "support/runtime.hpp"
#include "support/tested_types.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 16;
const auto* const runtime = share_runtime(with_tile(tile));

constexpr Index sizes[] = {0, 1, 5, tile - 1, tile, tile + 1, 5 * tile + 3};
constexpr Op ops[] = {Op::NoTrans, Op::Trans, Op::ConjTrans};

/// A matrix that is diagonally dominant by rows and by columns.
template <Scalar T>
Dense<T> dominant_matrix(Index m, Index n, std::uint64_t seed, Layout layout = Layout::ColMajor, Index pad = 0) {
  auto A = random_matrix<T>(m, n, seed, layout, pad);
  for (Index i = 0; i < std::min(m, n); i++) A(i, i) += T(static_cast<Real<T>>(2 * std::max(m, n)));
  return A;
}

/// The factorization by its definition, in place.
template <Scalar T>
Dense<T> plain_factors(Dense<T> A) {
  for (Index k = 0; k < std::min(A.m, A.n); k++)
    for (Index i = k + 1; i < A.m; i++) {
      A(i, k) /= A(k, k);
      for (Index j = k + 1; j < A.n; j++) A(i, j) -= A(i, k) * A(k, j);
    }
  return A;
}

/// max|A − L U| / (n ‖A‖ u)
template <Scalar T>
double residual(const Dense<T>& before, const Dense<T>& factors) {
  std::vector<Index> no_exchanges(static_cast<std::size_t>(std::min(before.m, before.n)));
  std::iota(no_exchanges.begin(), no_exchanges.end(), Index{1});
  return residual(before, factors, no_exchanges);
}

/// max|U| / max|A|, where |x| is |Re x| + |Im x|.
template <Scalar T>
double growth_of(const Dense<T>& before, const Dense<T>& factors) {
  double of_u = 0, of_a = 0;
  const auto magnitude = [](T x) {
    return std::abs(static_cast<double>(std::real(x))) + std::abs(static_cast<double>(std::imag(x)));
  };
  for (Index j = 0; j < before.n; j++)
    for (Index i = 0; i < before.m; i++) {
      of_a = std::max(of_a, magnitude(before(i, j)));
      if (i <= j) of_u = std::max(of_u, magnitude(factors(i, j)));
    }
  return of_a == 0 ? 1 : of_u / of_a;
}

/// op(A), written out.
template <Scalar T>
Dense<T> applied(Op op, const Dense<T>& A) {
  Dense<T> result(op == Op::NoTrans ? A.m : A.n, op == Op::NoTrans ? A.n : A.m);
  for (Index j = 0; j < A.n; j++)
    for (Index i = 0; i < A.m; i++) {
      if (op == Op::NoTrans) result(i, j) = A(i, j);
      else result(j, i) = op == Op::ConjTrans ? conjugate(A(i, j)) : A(i, j);
    }
  return result;
}

/// Zeros left of the diagonal and on it, so pivot `zero` is exactly zero.
template <Scalar T>
void make_pivot_zero(Dense<T>& A, Index zero) {
  for (Index j = 0; j <= zero; j++) A(zero, j) = T{};
}

template <typename T>
class LuNopiv : public ::testing::Test {};
TYPED_TEST_SUITE(LuNopiv, ScalarTypes);

TYPED_TEST(LuNopiv, FactorizesAllShapes) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const Index m : sizes)
      for (const Index n : sizes) {
        const auto A = dominant_matrix<T>(m, n, static_cast<std::uint64_t>(100 * m + n), layout, (m + n) % 3);
        auto factors = A;
        double growth = 0;
        ASSERT_EQ(getrf_nopiv(layout, m, n, factors.data.data(), factors.ld, &growth), 0) << m << "x" << n;
        EXPECT_LE(residual(A, factors), threshold) << m << "x" << n;
        EXPECT_EQ(growth, growth_of(A, factors)) << m << "x" << n;
        ASSERT_TRUE(padding_is_intact(factors)) << m << "x" << n;
      }
}

TYPED_TEST(LuNopiv, AgreesWithAPlainFactorization) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{70, 70}, {90, 40}, {40, 90}}) {
    auto A = random_matrix<T>(m, n, 3);
    for (Index j = 0; j < n; j++)  // elements of L and U of about 1/20 and 1/5
      for (Index i = 0; i < m; i++) A(i, j) = A(i, j) * Real<T>(0.2) + T(i == j ? 4 : 0);
    auto factors = A;
    double growth = 0;
    ASSERT_EQ(getrf_nopiv(m, n, factors.data.data(), m, &growth), 0);
    const auto expected = plain_factors(A);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++)
        ASSERT_LE(std::abs(factors(i, j) - expected(i, j)), 200 * unit<T>) << i << ", " << j;
    EXPECT_NEAR(growth, growth_of(A, expected), 200 * unit<T>);
  }
}

TYPED_TEST(LuNopiv, ReportsALargeGrowth) {
  using T = TypeParam;
  const Index n = 3 * tile + 2;
  for (const auto layout : layouts)
    for (const Index place : {Index{0}, tile - 1, tile, 2 * tile + 5}) {
      auto A = dominant_matrix<T>(n, n, 4, layout);
      make_pivot_zero(A, place);
      A(place, place) = T(Real<T>(1e-4));
      const auto expected = growth_of(A, plain_factors(A));
      double growth = 0;
      ASSERT_EQ(getrf_nopiv(layout, n, n, A.data.data(), n, &growth), 0);
      EXPECT_GT(growth, 10);
      EXPECT_NEAR(growth, expected, 1e6 * unit<T> * expected);
    }
}

TYPED_TEST(LuNopiv, SaysWhichPivotIsZero) {
  using T = TypeParam;
  const Index n = 4 * tile + 5;
  for (const auto layout : layouts)
    for (const Index zero : {Index{0}, Index{3}, tile - 1, tile, 2 * tile + 1, n - 1}) {
      auto A = dominant_matrix<T>(n, n, 5, layout);
      make_pivot_zero(A, zero);
      auto factors = A;
      EXPECT_EQ(getrf_nopiv(layout, n, n, factors.data.data(), n), zero + 1);
      if (zero == n - 1) {
        EXPECT_LE(residual(A, factors), threshold) << "nothing is divided by it";
      }
      const auto B = random_matrix<T>(n, 2, 6, layout);
      auto X = B;
      factors = A;
      EXPECT_EQ(gesv_nopiv(layout, n, 2, factors.data.data(), n, X.data.data(), X.ld), zero + 1);
      EXPECT_EQ(X.data, B.data) << "B must not change";
    }
}

TYPED_TEST(LuNopiv, ReportsTheFirstOfSeveralZeros) {
  using T = TypeParam;
  const Index n = 4 * tile;
  auto A = dominant_matrix<T>(n, n, 7);
  for (const Index zero : {3 * tile, tile + 2, n - 1}) make_pivot_zero(A, zero);
  EXPECT_EQ(getrf_nopiv(n, n, A.data.data(), n), tile + 3);
}

TYPED_TEST(LuNopiv, EndsWithNotANumber) {
  using T = TypeParam;
  const Index n = 4 * tile;
  for (const Index place : {Index{0}, n / 2 + 1, n - 1}) {
    auto A = dominant_matrix<T>(n, n, 8);
    A(place, place) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    double growth = 0;
    EXPECT_EQ(getrf_nopiv(n, n, A.data.data(), n, &growth), 0) << "a NaN is not zero";
    EXPECT_TRUE(std::isnan(growth));
    EXPECT_TRUE(std::isnan(std::abs(A(n - 1, n - 1))));
  }
}

TYPED_TEST(LuNopiv, SolvesWithAllOperations) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const Index n : sizes)
      for (const Index nrhs : {Index{0}, Index{1}, tile + 1}) {
        const auto A = dominant_matrix<T>(n, n, 9, layout, n % 2);
        const auto B = random_matrix<T>(n, nrhs, 10, layout, nrhs % 2);
        auto factors = A;
        auto X = B;
        double growth = 0;
        ASSERT_EQ(gesv_nopiv(layout, n, nrhs, factors.data.data(), factors.ld, X.data.data(), X.ld, &growth), 0);
        EXPECT_EQ(growth, growth_of(A, factors)) << n;
        EXPECT_LE(residual(A, factors), threshold) << n;
        EXPECT_LE(residual_of_solution(A, B, X), threshold) << n << ", " << nrhs;
        for (const auto op : ops) {
          X = B;
          getrs_nopiv(layout, op, n, nrhs, factors.data.data(), factors.ld, X.data.data(), X.ld);
          EXPECT_LE(residual_of_solution(applied(op, A), B, X), threshold) << n << ", " << nrhs;
        }
      }
}

/// Tiles that GPUs solve with inverses of diagonal blocks, also above and below a last tile that is not square.
TYPED_TEST(LuNopiv, FactorizesLargeTiles) {
  using T = TypeParam;
  constexpr Index large = 320, nrhs = 33;
  for (const auto& [m, n] : {std::pair<Index, Index>{920, 920}, {960, 600}, {600, 960}}) {
    const auto A = dominant_matrix<T>(m, n, 11);
    auto factors = A;
    Growth growth;
    {
      const Matrix<T> a(factors.data.data(), m, n, m, {large, large});
      EXPECT_EQ(getrf_nopiv(a, &growth).wait(), 0);
      if (m == n) {
        const auto B = random_matrix<T>(n, nrhs, 12);
        auto X = B;
        {
          const Matrix<T> b(X.data.data(), n, nrhs, n, {large, nrhs});
          getrs_nopiv(Op::NoTrans, a, b);
        }
        EXPECT_LE(residual_of_solution(A, B, X), threshold);
      }
    }
    EXPECT_LE(residual(A, factors), threshold);
    EXPECT_EQ(growth.wait(), growth_of(A, factors));
  }
}

TYPED_TEST(LuNopiv, TakesViewsAndTransposes) {
  using T = TypeParam;
  const Index n = 4 * tile + 3, inner = n - 2 * tile;
  const auto A = dominant_matrix<T>(inner, inner, 13);
  for (const auto stored : ops) {
    auto whole = random_matrix<T>(n, n, 14);
    const auto inside = applied(stored, A);
    for (Index j = 0; j < inner; j++)
      for (Index i = 0; i < inner; i++) whole(2 * tile + i, 2 * tile + j) = inside(i, j);
    const auto before = whole;
    const auto B = random_matrix<T>(inner, 3, 15);
    auto X = B;
    Growth growth;
    {
      const Matrix<T> all(whole.data.data(), n, n, n, {tile, tile}), b(X.data.data(), inner, 3, inner, {tile, 2});
      auto a = all.view(2, all.mt(), 2, all.nt());
      if (stored == Op::Trans) a = a.transposed();
      if (stored == Op::ConjTrans) a = a.conjugate_transposed();
      EXPECT_EQ(gesv_nopiv(a, b, &growth).wait(), 0);
    }
    EXPECT_LE(residual_of_solution(A, B, X), threshold);
    EXPECT_NEAR(growth.wait(), growth_of(A, plain_factors(A)), 100 * unit<T>);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++)
        if (i < 2 * tile || j < 2 * tile) {
          ASSERT_EQ(whole(i, j), before(i, j)) << "outside the view";
        }
  }
}

TYPED_TEST(LuNopiv, WorksOnMatricesWithoutAWait) {
  using T = TypeParam;
  const Index n = 4 * tile + 3;
  const auto A = dominant_matrix<T>(n, n, 16), B = random_matrix<T>(n, 5, 17);
  for (const auto op : ops) {
    auto factors = A;
    auto X = B;
    {
      const Matrix<T> a(factors.data.data(), n, n, n, {tile, tile}), b(X.data.data(), n, 5, n, {tile, 2});
      Growth growth;  // is destroyed before it is known, like the info
      static_cast<void>(getrf_nopiv(a, &growth));
      getrs_nopiv(op, a, b);
    }
    EXPECT_LE(residual_of_solution(applied(op, A), B, X), threshold);
  }
}

TEST(LuNopivGrowth, IsOneIfThereIsNone) {
  EXPECT_EQ(Growth().wait(), 1);
  std::vector<double> A(9);
  double growth = 0;
  EXPECT_EQ(getrf_nopiv(0, 3, A.data(), 1, &growth), 0);
  EXPECT_EQ(growth, 1);
  EXPECT_EQ(getrf_nopiv(1, 3, A.data(), 1, &growth), 1);
  EXPECT_EQ(growth, 1) << "of a matrix of zeros";
  const Matrix<double> one(A.data(), 1, 3, 1, {tile, tile}), empty(A.data(), 0, 0, 1, {tile, tile});
  Growth of_one, of_empty;
  EXPECT_EQ(getrf_nopiv(one, &of_one).wait(), 1);
  EXPECT_EQ(getrf_nopiv(empty, &of_empty).wait(), 0);
  for (int again = 0; again < 2; again++) {
    EXPECT_EQ(of_one.wait(), 1);
    EXPECT_EQ(of_empty.wait(), 1);
  }
}

TEST(LuNopivBadInput, IsRefusedOnPointers) {
  std::vector<double> A(100, 1), B(100, 1);
  double *a = A.data(), *b = B.data();
  double growth = 7;
  expect_refused<ArgumentError>([&] { getrf_nopiv(-1, 3, a, 3, &growth); }, "getrf_nopiv", 1, "m");
  expect_refused<ArgumentError>([&] { getrf_nopiv(3, -1, a, 3); }, "getrf_nopiv", 2, "n");
  expect_refused<ArgumentError>([&] { getrf_nopiv(3, 3, static_cast<double*>(nullptr), 3); }, "getrf_nopiv", 3, "A");
  expect_refused<ArgumentError>([&] { getrf_nopiv(3, 3, a, 2); }, "getrf_nopiv", 4, "lda");
  expect_refused<ArgumentError>([&] { getrf_nopiv(static_cast<Layout>('x'), 3, 3, a, 3); }, "getrf_nopiv", 1, "layout");
  expect_refused<ArgumentError>([&] { getrf_nopiv(Layout::RowMajor, 2, 3, a, 2); }, "getrf_nopiv", 5, "lda");
  expect_refused<ArgumentError>([&] { getrs_nopiv(static_cast<Op>('x'), 3, 2, a, 3, b, 3); }, "getrs_nopiv", 1, "op");
  expect_refused<ArgumentError>([&] { getrs_nopiv(Op::NoTrans, 3, -2, a, 3, b, 3); }, "getrs_nopiv", 3, "nrhs");
  expect_refused<ArgumentError>([&] { getrs_nopiv(Op::NoTrans, 3, 2, a, 3, b, 2); }, "getrs_nopiv", 7, "ldb");
  expect_refused<ShapeError>([&] { getrs_nopiv(Op::NoTrans, 3, 2, a, 3, a + 4, 3); }, "getrs_nopiv", 6, "B");
  expect_refused<ArgumentError>([&] { gesv_nopiv(3, 2, a, 3, b, 2, &growth); }, "gesv_nopiv", 6, "ldb");
  expect_refused<ArgumentError>([&] { gesv_nopiv(3, 0, static_cast<double*>(nullptr), 3, b, 3); }, "gesv_nopiv", 3,
                                "A");
  EXPECT_NO_THROW(getrs_nopiv(Op::Trans, 3, 0, static_cast<double*>(nullptr), 3, b, 3));
  EXPECT_EQ(growth, 7);
  EXPECT_EQ(A, std::vector<double>(100, 1));
  EXPECT_EQ(B, std::vector<double>(100, 1));
}

TEST(LuNopivBadInput, IsRefusedOnMatrices) {
  std::vector<double> A(36, 1), B(36, 1);
  const Matrix<double> a(A.data(), 6, 6, 6, {2, 2}), tall_tiles(A.data(), 6, 6, 6, {4, 2}),
      panels(A.data(), 6, 6, 6, {6, 2}), flat(A.data(), 2, 6, 6, {2, 1}),
      constant(static_cast<const double*>(A.data()), 6, 6, 6, {2, 2}), b(B.data(), 6, 3, 6, {2, 3}),
      low(B.data(), 4, 3, 6, {2, 3}), other_tiles(B.data(), 6, 3, 6, {3, 3});
  for (const auto& tiles : {tall_tiles, panels, flat})
    expect_refused<ShapeError>([&] { static_cast<void>(getrf_nopiv(tiles)); }, "getrf_nopiv", 1, "A");
  expect_refused<ArgumentError>([&] { static_cast<void>(getrf_nopiv(constant)); }, "getrf_nopiv", 1, "A");
  expect_refused<ShapeError>([&] { getrs_nopiv(Op::NoTrans, a, low); }, "getrs_nopiv", 3, "B");
  expect_refused<ShapeError>([&] { getrs_nopiv(Op::NoTrans, a, other_tiles); }, "getrs_nopiv", 3, "B");
  expect_refused<ShapeError>([&] { static_cast<void>(gesv_nopiv(a, a)); }, "gesv_nopiv", 2, "B");
  expect_refused<ShapeError>([&] { static_cast<void>(gesv_nopiv(flat, b)); }, "gesv_nopiv", 1, "A");
  std::vector<std::complex<double>> C(36, 1), D(18, 1);
  const Matrix<std::complex<double>> c(C.data(), 6, 6, 6, {2, 2}), d(D.data(), 6, 3, 6, {2, 3});
  expect_refused<ArgumentError>([&] { getrs_nopiv(Op::ConjTrans, c.transposed(), d); }, "getrs_nopiv", 2, "A");
}

}  // namespace
}  // namespace tessera::test
