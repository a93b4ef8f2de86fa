// SPDX-License-Identifier: BSD-3-Clause
// trtri, lauum, potri and getri, on pointers and on matrices, and trtrs: residuals as LAPACK's testers define them,
// results compared with the host's LAPACK, and bad input.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "devices/cpu/host_lapack.hpp"
#include "support/residuals.hpp"
#include "support/runtime.hpp"
#include "support/tested_types.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 16;
const auto* const runtime = share_runtime(with_tile(tile));

/// No tile, one tile, several tiles, and ragged sizes. The largest has more panels than a task takes.
constexpr Index sizes[] = {0, 1, 5, tile, tile + 1, 3 * tile - 1, 9 * tile + 3};
constexpr Diag diagonals[] = {Diag::NonUnit, Diag::Unit};

/// A matrix whose triangles are well conditioned as factors: the diagonal is real, from 1 to 2.
template <Scalar T>
Dense<T> factor(Index n, std::uint64_t seed, Layout layout = Layout::ColMajor, Index pad = 0) {
  auto A = random_matrix<T>(n, n, seed, layout, pad);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++)
      if (i == j) A(i, j) = T(static_cast<Real<T>>(1.5 + 0.5 * std::real(A(i, j))));
      else A(i, j) /= static_cast<Real<T>>(std::sqrt(n));
  return A;
}

/// op(A) op(B)
template <Scalar T>
Dense<T> product(const Dense<T>& A, const Dense<T>& B, Op op_a = Op::NoTrans, Op op_b = Op::NoTrans) {
  const int n = static_cast<int>(A.n);
  Dense<T> C(n, n);
  if (n > 0) device::cpu::gemm<T>(op_a, op_b, n, n, n, T(1), A.data.data(), n, B.data.data(), n, T{}, C.data.data(), n);
  return C;
}

/// L Lᴴ, or Uᴴ U
template <Scalar T>
Dense<T> factorized(const Dense<T>& given, Uplo uplo) {
  const auto L = triangle_of(given, uplo);
  return uplo == Uplo::Lower ? product(L, L, Op::NoTrans, Op::ConjTrans) : product(L, L, Op::ConjTrans, Op::NoTrans);
}

/// Lᴴ L, or U Uᴴ
template <Scalar T>
Dense<T> times_adjoint(const Dense<T>& given, Uplo uplo) {
  const auto L = triangle_of(given, uplo);
  return uplo == Uplo::Lower ? product(L, L, Op::ConjTrans, Op::NoTrans) : product(L, L, Op::NoTrans, Op::ConjTrans);
}

/// The largest |ours − theirs| in a triangle, relative to the largest element.
template <Scalar T>
double difference(const Dense<T>& ours, const Dense<T>& theirs, Uplo uplo) {
  auto A = triangle_of(ours, uplo);
  const auto B = triangle_of(theirs, uplo);
  const double scale = largest(B);
  for (Index j = 0; j < A.n; j++)
    for (Index i = 0; i < A.n; i++) A(i, j) -= B(i, j);
  return scale > 0 ? largest(A) / scale : largest(A);
}

template <typename T>
class Inverse : public ::testing::Test {};
TYPED_TEST_SUITE(Inverse, ScalarTypes);

TYPED_TEST(Inverse, OfTrianglesInAllLayouts) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const auto uplo : triangles)
      for (const auto diag : diagonals)
        for (const Index n : sizes) {
          const auto A = factor<T>(n, static_cast<std::uint64_t>(n), layout, n % 3);
          const auto given = without_rest(A, uplo, diag);
          auto X = given;
          ASSERT_EQ(trtri(layout, uplo, diag, n, X.data.data(), X.ld), 0) << n;
          EXPECT_LE(residual_of_inverse(triangle_of(A, uplo, diag), triangle_of(X, uplo, diag)), threshold) << n;
          EXPECT_TRUE(rest_is_unchanged(given, X, uplo, diag)) << n;
        }
}

template <Scalar T>
Dense<T> op_of(const Dense<T>& A, Op op) {
  Dense<T> result(A.n, A.n);
  for (Index j = 0; j < A.n; j++)
    for (Index i = 0; i < A.n; i++)
      result(i, j) = op == Op::NoTrans ? A(i, j) : op == Op::Trans ? A(j, i) : conjugate(A(j, i));
  return result;
}

TYPED_TEST(Inverse, OfTrianglesSolvesInAllLayouts) {
  using T = TypeParam;
  constexpr Index nrhs = tile + 3;
  for (const auto layout : layouts)
    for (const auto uplo : triangles)
      for (const auto op : {Op::NoTrans, Op::Trans, Op::ConjTrans})
        for (const auto diag : diagonals)
          for (const Index n : sizes) {
            const auto seed = static_cast<std::uint64_t>(n);
            const auto A = factor<T>(n, seed, layout, n % 3), given = without_rest(A, uplo, diag);
            const auto B = random_matrix<T>(n, nrhs, seed + 1, layout, 2);
            auto X = B;
            ASSERT_EQ(trtrs(layout, uplo, op, diag, n, nrhs, given.data.data(), given.ld, X.data.data(), X.ld), 0);
            EXPECT_LE(residual_of_solution(op_of(triangle_of(A, uplo, diag), op), B, X), threshold) << n;
          }
}

TYPED_TEST(Inverse, OfASingularTriangleSolvesNothing) {
  using T = TypeParam;
  constexpr Index n = 3 * tile, zero = tile + 2;
  auto A = factor<T>(n, 1);
  A(zero, zero) = T{};
  const auto B = random_matrix<T>(n, 2, 2);
  auto X = B;
  const auto solve = [&](Diag diag, Index nrhs) {
    return trtrs(Uplo::Lower, Op::NoTrans, diag, n, nrhs, A.data.data(), A.ld, X.data.data(), X.ld);
  };
  EXPECT_EQ(solve(Diag::NonUnit, 2), zero + 1);
  EXPECT_EQ(solve(Diag::NonUnit, 0), zero + 1) << "as LAPACK";
  EXPECT_EQ(std::memcmp(X.data.data(), B.data.data(), B.data.size() * sizeof(T)), 0);
  EXPECT_EQ(solve(Diag::Unit, 2), 0) << "a unit diagonal is not read";
}

TYPED_TEST(Inverse, ProductsWithTheAdjointInAllLayouts) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const auto uplo : triangles)
      for (const Index n : sizes) {
        const auto A = factor<T>(n, static_cast<std::uint64_t>(n), layout, n % 3);
        const auto given = without_rest(A, uplo);
        auto R = given;
        lauum(layout, uplo, n, R.data.data(), R.ld);
        EXPECT_LE(difference(R, times_adjoint(A, uplo), uplo), static_cast<double>(n + 2) * threshold * unit<T>) << n;
        EXPECT_TRUE(rest_is_unchanged(given, R, uplo)) << n;
      }
}

TYPED_TEST(Inverse, FromCholeskyFactorsInAllLayouts) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const auto uplo : triangles)
      for (const Index n : sizes) {
        const auto L = factor<T>(n, static_cast<std::uint64_t>(n), layout, n % 3);
        const auto given = without_rest(L, uplo);
        auto X = given;
        ASSERT_EQ(potri(layout, uplo, n, X.data.data(), X.ld), 0) << n;
        EXPECT_LE(residual_of_inverse(factorized(L, uplo), hermitian(X, uplo)), threshold) << n;
        EXPECT_TRUE(rest_is_unchanged(given, X, uplo)) << n;
      }
}

TYPED_TEST(Inverse, FromLuFactorsInAllLayouts) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const Index n : sizes) {
      auto A = random_matrix<T>(n, n, 9, layout, n % 3);
      for (Index i = 0; i < n; i++) A((i + 3) % n, i) += T(4);  // well-conditioned, but needs pivots
      auto X = A;
      std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
      ASSERT_EQ(getrf(layout, n, n, X.data.data(), X.ld, pivots.data()), 0);
      ASSERT_EQ(getri(layout, n, X.data.data(), X.ld, pivots.data()), 0);
      EXPECT_LE(residual_of_inverse(A, X), threshold) << n;
      ASSERT_TRUE(padding_is_intact(X)) << n;
    }
}

TYPED_TEST(Inverse, ExchangesColumnsByAnyPivots) {
  using T = TypeParam;
  const Index n = 9 * tile + 5;
  const auto given = factor<T>(n, 10);
  const auto A = product(triangle_of(given, Uplo::Lower, Diag::Unit), triangle_of(given, Uplo::Upper));
  std::mt19937_64 engine(11);
  std::vector<std::int32_t> none, random, last, next;
  for (Index i = 1; i <= n; i++) {
    none.push_back(static_cast<std::int32_t>(i));
    random.push_back(static_cast<std::int32_t>(std::uniform_int_distribution<Index>(i, n)(engine)));
    last.push_back(static_cast<std::int32_t>(n));
    next.push_back(static_cast<std::int32_t>(std::min(i + 1, n)));
  }
  for (const auto& pivots : {none, random, last, next}) {
    auto X = given, permuted = A;  // Pᵀ L U
    for (Index i = n - 1; i >= 0; i--)
      for (Index j = 0; j < n; j++)
        std::swap(permuted(i, j), permuted(Index{pivots[static_cast<std::size_t>(i)]} - 1, j));
    ASSERT_EQ(getri(n, X.data.data(), n, pivots.data()), 0);
    EXPECT_LE(residual_of_inverse(permuted, X), threshold);
  }
}

TYPED_TEST(Inverse, AgreesWithTheHostsLapack) {
  using T = TypeParam;
  const Index n = 4 * tile + 7;
  const int order = static_cast<int>(n);
  const double close = 1e3 * unit<T>;
  for (const auto uplo : triangles) {
    const auto A = factor<T>(n, 12);
    for (const auto diag : diagonals) {
      auto ours = A, theirs = A;
      ASSERT_EQ(trtri(uplo, diag, n, ours.data.data(), n), 0);
      ASSERT_EQ(device::cpu::trtri<T>(uplo, diag, order, theirs.data.data(), order), 0);
      EXPECT_LE(difference(ours, theirs, uplo), close);
    }
    auto ours = A, theirs = A;
    lauum(uplo, n, ours.data.data(), n);
    device::cpu::lauum<T>(uplo, order, theirs.data.data(), order);
    EXPECT_LE(difference(ours, theirs, uplo), close);
    ours = A, theirs = A;
    ASSERT_EQ(potri(uplo, n, ours.data.data(), n), 0);
    ASSERT_EQ(device::cpu::potri<T>(uplo, order, theirs.data.data(), order), 0);
    EXPECT_LE(difference(ours, theirs, uplo), close);
  }
  auto ours = factor<T>(n, 13), theirs = ours;
  std::vector<int> pivots;
  for (int i = 1; i <= order; i++) pivots.push_back(std::min(order, i + i % 5));
  std::vector<T> work(static_cast<std::size_t>(n));
  ASSERT_EQ(getri(n, ours.data.data(), n, pivots.data()), 0);
  ASSERT_EQ(device::cpu::getri<T>(order, theirs.data.data(), order, pivots.data(), work.data(), order), 0);
  for (const auto uplo : triangles) EXPECT_LE(difference(ours, theirs, uplo), close);
}

TYPED_TEST(Inverse, OfIllConditionedTriangles) {
  using T = TypeParam;
  const Index n = 5 * tile + 3;
  const double last = std::is_same_v<Real<T>, float> ? 1e-3 : 1e-9;
  auto A = factor<T>(n, 14);
  for (Index j = 0; j < n; j++)  // rows and columns of very different magnitudes
    for (Index i = 0; i < n; i++)
      A(i, j) *= static_cast<Real<T>>(std::pow(last, static_cast<double>(i) / static_cast<double>(n)));
  for (const auto uplo : triangles) {
    auto X = A;
    ASSERT_EQ(trtri(uplo, Diag::NonUnit, n, X.data.data(), n), 0);
    EXPECT_LE(residual_of_inverse(triangle_of(A, uplo), triangle_of(X, uplo)), threshold);
  }
}

TYPED_TEST(Inverse, SaysWhichDiagonalElementIsZero) {
  using T = TypeParam;
  const Index n = 4 * tile + 5;
  std::vector<std::int64_t> pivots;
  for (Index i = 1; i <= n; i++) pivots.push_back(i);
  for (const Index zero : {Index{0}, tile - 1, tile, 3 * tile + 2, n - 1}) {
    auto A = factor<T>(n, 15);
    A(zero, zero) = A(n - 1, n - 1) = T{};
    for (const auto uplo : triangles) {
      auto X = A;
      EXPECT_EQ(trtri(uplo, Diag::NonUnit, n, X.data.data(), n), zero + 1);
      EXPECT_EQ(potri(uplo, n, X.data.data(), n), zero + 1);
      EXPECT_EQ(getri(n, X.data.data(), n, pivots.data()), zero + 1);
      EXPECT_EQ(X.data, A.data) << "A must not change";
      EXPECT_EQ(trtri(uplo, Diag::Unit, n, X.data.data(), n), 0) << "a unit diagonal is not read";
      auto Y = A, Z = A;
      const Matrix<T> y(Y.data.data(), n, n, n, {tile, tile}), z(Z.data.data(), n, n, n, {tile, tile});
      EXPECT_EQ(trtri(uplo, Diag::NonUnit, y).wait(), zero + 1);
      EXPECT_EQ(potri(uplo, z).wait(), zero + 1);
    }
    auto B = random_matrix<T>(n, n, 16);
    for (Index i = 0; i < n; i++) B(i, zero) = T{};  // U(zero, zero) is exactly zero
    const Matrix<T> b(B.data.data(), n, n, n, {n, tile});
    const auto [rows, singular] = getrf(b);
    EXPECT_EQ(getri(b, rows).wait(), zero + 1);
    EXPECT_EQ(singular.wait(), zero + 1);
  }
}

/// Every element that depends on one that is not finite is not finite either, as in the reference LAPACK.
TYPED_TEST(Inverse, SpreadsNotANumberAndEnds) {
  using T = TypeParam;
  const Index n = 4 * tile;
  std::vector<std::int64_t> pivots;
  for (Index i = 1; i <= n; i++) pivots.push_back(i);
  for (const Uplo uplo : triangles)
    for (const Real<T> bad : {std::numeric_limits<Real<T>>::quiet_NaN(), std::numeric_limits<Real<T>>::infinity()})
      for (const auto& [i, j] : {std::pair<Index, Index>{3 * tile + 1, tile}, {tile + 2, tile + 2}}) {
        const bool lower = uplo == Uplo::Lower, vanishes = i == j && std::isinf(bad);  // 1 / ∞ is 0
        const auto at = [lower](auto& X, Index row, Index column) -> auto& {
          return lower ? X(row, column) : X(column, row);
        };
        auto A = factor<T>(n, 17);
        at(A, i, j) = T(bad);
        const auto expect_spread = [&](const char* routine, const Dense<T>& X, auto depends) {
          for (Index c = 0; c < n; c++)
            for (Index r = c; r < n; r++)
              if (depends(r, c)) {
                ASSERT_FALSE(std::isfinite(std::abs(at(X, r, c)))) << routine << ' ' << r << ' ' << c << ' ' << bad;
              }
        };
        auto X = A;
        EXPECT_EQ(trtri(uplo, Diag::NonUnit, n, X.data.data(), n), 0);
        expect_spread("trtri", X, [&](Index r, Index c) { return !vanishes && r >= i && c <= j; });
        X = A;
        lauum(uplo, n, X.data.data(), n);
        expect_spread("lauum", X, [&](Index r, Index c) { return (r <= i && c == j) || (r == j && c <= j); });
        X = A;
        EXPECT_EQ(potri(uplo, n, X.data.data(), n), 0);
        expect_spread("potri", X, [&](Index /*r*/, Index c) { return !vanishes && c <= j; });
        X = A;
        EXPECT_EQ(getri(n, X.data.data(), n, pivots.data()), 0);
        if (vanishes) continue;
        // The element is in L, or in U. It reaches whole columns, or whole rows.
        for (Index c = 0; c < n; c++)
          for (Index r = 0; r < n; r++)
            if (i > j && lower ? c <= j : r <= j) {
              ASSERT_FALSE(std::isfinite(std::abs(X(r, c)))) << "getri " << r << ' ' << c << ' ' << bad;
            }
      }
}

/// Tiles that GPUs invert and solve with inverses of diagonal blocks.
TYPED_TEST(Inverse, OfLargeTiles) {
  using T = TypeParam;
  constexpr Index large = 288, n = 2 * large + 20;
  for (const auto uplo : triangles) {
    const auto A = factor<T>(n, 18);
    const auto diag = uplo == Uplo::Lower ? Diag::Unit : Diag::NonUnit;
    auto W = A;
    {
      const Matrix<T> w(W.data.data(), n, n, n, {large, large});
      EXPECT_EQ(trtri(uplo, diag, w).wait(), 0);
    }
    EXPECT_LE(residual_of_inverse(triangle_of(A, uplo, diag), triangle_of(W, uplo, diag)), threshold);
    EXPECT_TRUE(rest_is_unchanged(A, W, uplo, diag));
    auto X = A;
    {
      const Matrix<T> x(X.data.data(), n, n, n, {large, large});
      EXPECT_EQ(potri(uplo, x).wait(), 0);
    }
    EXPECT_LE(residual_of_inverse(factorized(A, uplo), hermitian(X, uplo)), threshold);
    EXPECT_TRUE(rest_is_unchanged(A, X, uplo));
  }
  auto A = random_matrix<T>(n, n, 19);
  for (Index i = 0; i < n; i++) A((i + 3) % n, i) += T(40);
  auto X = A;
  {
    const Matrix<T> x(X.data.data(), n, n, n, {n, large});
    const auto pivots = getrf(x).pivots;
    EXPECT_EQ(getri(x, pivots).wait(), 0);
  }
  EXPECT_LE(residual_of_inverse(A, X), threshold);
}

TYPED_TEST(Inverse, OfViewsAndTransposes) {
  using T = TypeParam;
  const Index n = 4 * tile + 3, inner = n - 2 * tile;
  for (const auto uplo : triangles)
    for (const auto op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
      const auto A = factor<T>(inner, 20);
      const auto shown = [&](const Dense<T>& whole, Index i, Index j) {
        const auto x = op == Op::NoTrans ? whole(2 * tile + i, 2 * tile + j) : whole(2 * tile + j, 2 * tile + i);
        return op == Op::ConjTrans ? conjugate(x) : x;
      };
      Dense<T> whole = random_matrix<T>(n, n, 21);
      for (Index j = 0; j < inner; j++)
        for (Index i = 0; i < inner; i++)
          (op == Op::NoTrans ? whole(2 * tile + i, 2 * tile + j) : whole(2 * tile + j, 2 * tile + i)) =
              op == Op::ConjTrans ? conjugate(A(i, j)) : A(i, j);
      const auto before = whole;
      const auto apply = [&](auto routine) {
        whole = before;
        {
          const Matrix<T> all(whole.data.data(), n, n, n, {tile, tile});
          const auto part = all.view(2, all.mt(), 2, all.nt());
          routine(op == Op::NoTrans ? part : op == Op::Trans ? part.transposed() : part.conjugate_transposed());
        }
        Dense<T> result(inner, inner);
        for (Index j = 0; j < inner; j++)
          for (Index i = 0; i < inner; i++) result(i, j) = shown(whole, i, j);
        return result;
      };
      const auto X = apply([&](const auto& a) { static_cast<void>(trtri(uplo, Diag::NonUnit, a)); });
      EXPECT_LE(residual_of_inverse(triangle_of(A, uplo), triangle_of(X, uplo)), threshold);
      const auto R = apply([&](const auto& a) { lauum(uplo, a); });
      EXPECT_LE(difference(R, times_adjoint(A, uplo), uplo), static_cast<double>(inner) * threshold * unit<T>);
      const auto Y = apply([&](const auto& a) { static_cast<void>(potri(uplo, a)); });
      EXPECT_LE(residual_of_inverse(factorized(A, uplo), hermitian(Y, uplo)), threshold);
      for (Index j = 0; j < n; j++)
        for (Index i = 0; i < n; i++)
          if (i < 2 * tile || j < 2 * tile) {
            ASSERT_EQ(whole(i, j), before(i, j)) << "outside the view";
          }
    }
}

TYPED_TEST(Inverse, FollowsFactorizationsWithoutAWait) {
  using T = TypeParam;
  const Index n = 4 * tile + 3;
  const auto A = factorized(factor<T>(n, 22), Uplo::Lower);
  auto X = A, Y = A;
  {
    const Matrix<T> x(X.data.data(), n, n, n, {tile, tile}), y(Y.data.data(), n, n, n, {n, tile});
    static_cast<void>(potrf(Uplo::Upper, x));
    static_cast<void>(potri(Uplo::Upper, x));  // the infos are ignored
    static_cast<void>(getri(y, getrf(y).pivots));
  }
  EXPECT_LE(residual_of_inverse(A, hermitian(X, Uplo::Upper)), threshold);
  EXPECT_LE(residual_of_inverse(A, Y), threshold);
}

TEST(InverseInfo, OfAnEmptyMatrixIsZero) {
  double none = 0;
  const Matrix<double> squares(&none, 0, 0, 1, {tile, tile});
  EXPECT_EQ(trtri(Uplo::Lower, Diag::NonUnit, squares).wait(), 0);
  EXPECT_EQ(potri(Uplo::Upper, squares).wait(), 0);
  EXPECT_NO_THROW(lauum(Uplo::Upper, squares));
  EXPECT_EQ(getri(squares, getrf(squares).pivots).wait(), 0);
}

TEST(InverseBadInput, IsRefusedOnPointers) {
  std::vector<double> A(100, 1);
  std::vector<std::int64_t> pivots{1, 2, 3};
  auto *a = A.data(), *none = static_cast<double*>(nullptr);
  auto* p = pivots.data();
  const auto lower = Uplo::Lower;
  const auto unit_diagonal = Diag::Unit;
  const auto row = Layout::RowMajor;
  expect_refused<ArgumentError>([&] { trtri(static_cast<Uplo>('x'), unit_diagonal, 3, a, 3); }, "trtri", 1, "uplo");
  expect_refused<ArgumentError>([&] { trtri(lower, static_cast<Diag>('x'), 3, a, 3); }, "trtri", 2, "diag");
  expect_refused<ArgumentError>([&] { trtri(lower, unit_diagonal, -1, a, 3); }, "trtri", 3, "n");
  expect_refused<ArgumentError>([&] { trtri(lower, unit_diagonal, 3, none, 3); }, "trtri", 4, "A");
  expect_refused<ArgumentError>([&] { trtri(lower, unit_diagonal, 3, a, 2); }, "trtri", 5, "lda");
  expect_refused<ArgumentError>([&] { trtri(static_cast<Layout>('x'), lower, unit_diagonal, 3, a, 3); }, "trtri", 1,
                                "layout");
  expect_refused<ArgumentError>([&] { trtri(row, lower, unit_diagonal, 3, a, 2); }, "trtri", 6, "lda");
  const auto plain = Op::NoTrans;
  std::vector<double> B(9);
  auto* b = B.data();
  expect_refused<ArgumentError>([&] { trtrs(lower, Op{'x'}, unit_diagonal, 3, 1, a, 3, b, 3); }, "trtrs", 2, "op");
  expect_refused<ArgumentError>([&] { trtrs(lower, plain, unit_diagonal, 3, -1, a, 3, b, 3); }, "trtrs", 5, "nrhs");
  expect_refused<ArgumentError>([&] { trtrs(lower, plain, unit_diagonal, 3, 1, none, 3, b, 3); }, "trtrs", 6, "A");
  expect_refused<ArgumentError>([&] { trtrs(lower, plain, unit_diagonal, 3, 1, a, 2, b, 3); }, "trtrs", 7, "lda");
  expect_refused<ArgumentError>([&] { trtrs(lower, plain, unit_diagonal, 3, 1, a, 3, b, 2); }, "trtrs", 9, "ldb");
  expect_refused<ArgumentError>([&] { trtrs(row, lower, plain, unit_diagonal, 3, 2, a, 3, b, 1); }, "trtrs", 10, "ldb");
  expect_refused<ShapeError>([&] { trtrs(lower, plain, unit_diagonal, 3, 1, a, 3, a + 8, 3); }, "trtrs", 8, "B");
  expect_refused<ArgumentError>([&] { lauum(static_cast<Uplo>('x'), 3, a, 3); }, "lauum", 1, "uplo");
  expect_refused<ArgumentError>([&] { lauum(lower, -1, a, 3); }, "lauum", 2, "n");
  expect_refused<ArgumentError>([&] { lauum(lower, 3, none, 3); }, "lauum", 3, "A");
  expect_refused<ArgumentError>([&] { lauum(row, lower, 3, a, 2); }, "lauum", 5, "lda");
  expect_refused<ArgumentError>([&] { potri(static_cast<Uplo>('x'), 3, a, 3); }, "potri", 1, "uplo");
  expect_refused<ArgumentError>([&] { potri(lower, -1, a, 3); }, "potri", 2, "n");
  expect_refused<ArgumentError>([&] { potri(lower, 3, none, 3); }, "potri", 3, "A");
  expect_refused<ArgumentError>([&] { potri(lower, 3, a, 2); }, "potri", 4, "lda");
  expect_refused<ArgumentError>([&] { getri(-1, a, 3, p); }, "getri", 1, "n");
  expect_refused<ArgumentError>([&] { getri(3, none, 3, p); }, "getri", 2, "A");
  expect_refused<ArgumentError>([&] { getri(3, a, 2, p); }, "getri", 3, "lda");
  expect_refused<ArgumentError>([&] { getri(3, a, 3, static_cast<std::int64_t*>(nullptr)); }, "getri", 4, "ipiv");
  expect_refused<ArgumentError>([&] { getri(row, 3, a, 2, p); }, "getri", 4, "lda");
  pivots[1] = 4;
  expect_refused<ArgumentError>([&] { getri(3, a, 3, p); }, "getri", 4, "ipiv");
  EXPECT_EQ(A, std::vector<double>(100, 1));
}

TEST(InverseBadInput, IsRefusedOnMatrices) {
  std::vector<double> A(36, 1), B(36, 1);
  const Matrix<double> a(A.data(), 6, 6, 6, {2, 2}), wide(A.data(), 4, 6, 6, {2, 2}),
      tall_tiles(A.data(), 6, 6, 6, {4, 2}), constant(static_cast<const double*>(A.data()), 6, 6, 6, {2, 2}),
      panels(A.data(), 6, 6, 6, {6, 2}), wide_panels(A.data(), 4, 6, 6, {4, 2}), other(B.data(), 6, 6, 6, {6, 3});
  const auto lower = Uplo::Lower;
  const auto diag = Diag::NonUnit;
  const auto ignore = [](const auto& /*info*/) {};
  expect_refused<ArgumentError>([&] { ignore(trtri(static_cast<Uplo>('x'), diag, a)); }, "trtri", 1, "uplo");
  expect_refused<ArgumentError>([&] { ignore(trtri(lower, static_cast<Diag>('x'), a)); }, "trtri", 2, "diag");
  expect_refused<ShapeError>([&] { ignore(trtri(lower, diag, wide)); }, "trtri", 3, "A");
  expect_refused<ShapeError>([&] { ignore(trtri(lower, diag, tall_tiles)); }, "trtri", 3, "A");
  expect_refused<ArgumentError>([&] { ignore(trtri(lower, diag, constant)); }, "trtri", 3, "A");
  expect_refused<ArgumentError>([&] { lauum(static_cast<Uplo>('x'), a); }, "lauum", 1, "uplo");
  expect_refused<ShapeError>([&] { lauum(lower, wide); }, "lauum", 2, "A");
  expect_refused<ArgumentError>([&] { lauum(lower, constant); }, "lauum", 2, "A");
  expect_refused<ArgumentError>([&] { ignore(potri(static_cast<Uplo>('x'), a)); }, "potri", 1, "uplo");
  expect_refused<ShapeError>([&] { ignore(potri(lower, tall_tiles)); }, "potri", 2, "A");
  const auto pivots = getrf(other).pivots;
  expect_refused<ShapeError>([&] { ignore(getri(a, pivots)); }, "getri", 1, "A");
  expect_refused<ShapeError>([&] { ignore(getri(wide_panels, pivots)); }, "getri", 1, "A");
  expect_refused<ArgumentError>([&] { ignore(getri(other.transposed(), pivots)); }, "getri", 1, "A");
  expect_refused<ShapeError>([&] { ignore(getri(panels, pivots)); }, "getri", 2, "pivots");
}

}  // namespace
}  // namespace tessera::test
