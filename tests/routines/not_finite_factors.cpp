// SPDX-License-Identifier: BSD-3-Clause
// For matrices with infinities and NaN, the info of factorizations is that of the textbook algorithm, and thus of the
// reference LAPACK, for any tiles.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>

#include <tessera/lapack.hpp>

#include "support/dense.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime(with_tile(16));

constexpr Index n = 35, tiles[] = {4, 8, 17, n};
constexpr int trials = 24;

template <typename R>
constexpr R infinity = std::numeric_limits<R>::infinity();
template <typename R>
constexpr R nan = std::numeric_limits<R>::quiet_NaN();

/// Complex products and quotients as in Fortran: those of C++ turn some NaN into infinities.
template <Scalar T>
T times(T a, T b) {
  if constexpr (is_complex<T>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else return a * b;
}
template <Scalar T>
T inverse_of(T a) {
  if constexpr (is_complex<T>) {
    const bool mostly_real = std::abs(a.real()) >= std::abs(a.imag());
    const auto large = mostly_real ? a.real() : a.imag(), small = mostly_real ? a.imag() : a.real();
    const auto ratio = small / large, divisor = large + small * ratio;
    return mostly_real ? T{1 / divisor, -ratio / divisor} : T{ratio / divisor, -1 / divisor};
  } else {
    return 1 / a;
  }
}

/// The order of the first leading minor that is not positive, or 0.
template <Scalar T>
Index info_of_cholesky(Dense<T> A) {
  for (Index i = 0; i < A.n; i++) {
    for (Index j = 0; j < i; j++) {
      for (Index k = 0; k < j; k++) A(i, j) -= times(A(i, k), conjugate(A(j, k)));
      A(i, j) /= std::real(A(j, j));
    }
    auto pivot = std::real(A(i, i));
    for (Index k = 0; k < i; k++) pivot -= std::real(times(A(i, k), conjugate(A(i, k))));
    if (!(pivot > 0)) return i + 1;
    A(i, i) = std::sqrt(pivot);
  }
  return 0;
}

/// The first i with U(i, i) = 0, or 0.
template <Scalar T>
Index info_of_lu(Dense<T> A, bool pivoting) {
  const auto magnitude = [](T x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); };
  for (Index k = 0; k < A.n; k++) {
    Index p = k;
    for (Index i = k + 1; pivoting && i < A.m; i++)
      if (magnitude(A(i, k)) > magnitude(A(p, k))) p = i;
    if (A(p, k) == T{}) return k + 1;
    for (Index j = 0; j < A.n; j++) std::swap(A(p, j), A(k, j));
    const T factor = inverse_of(A(k, k));
    for (Index i = k + 1; i < A.m; i++) {
      A(i, k) = times(A(i, k), factor);
      for (Index j = k + 1; j < A.n; j++) A(i, j) -= times(A(i, k), A(k, j));
    }
  }
  return 0;
}

/// A Hermitian matrix that is positive definite, except for a few rows and columns with an infinity or NaN.
template <Scalar T>
Dense<T> hermitian(std::uint64_t seed) {
  auto A = random_matrix<T>(n, n, seed);
  for (Index i = 0; i < n; i++) {
    for (Index j = 0; j < i; j++) A(j, i) = conjugate(A(i, j));
    A(i, i) = T(static_cast<Real<T>>(2 * n));
  }
  const auto places = random_matrix<double>(3, 3, seed + 1);
  for (Index k = 0; k < static_cast<Index>(seed % 3) + 1; k++) {
    const auto place = [&](Index i) { return std::min<Index>(static_cast<Index>(std::abs(places(i, k)) * n), n - 1); };
    const Index i = place(0), j = seed % 2 == 0 ? i : place(1);
    const Real<T> value = places(2, k) > 0      ? infinity<Real<T>>
                          : places(2, k) > -0.5 ? nan<Real<T>>
                                                : -infinity<Real<T>>;
    A(i, j) = A(j, i) = T(value);
  }
  return A;
}

/// A matrix of powers of two, few enough that nothing is rounded, and a few infinities or NaN. Some matrices have a
/// column of zeros.
template <Scalar T>
Dense<T> with_zeros(std::uint64_t seed) {
  auto A = random_matrix<T>(n, n, seed);
  const Index empty = seed % 3 == 0 ? static_cast<Index>(5 + seed) : n;
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++) {
      const auto x = std::real(A(i, j));
      A(i, j) = std::abs(x) > Real<T>(0.95) ? T(std::copysign(Real<T>(1), x)) : T(0);
      if (i == j) A(i, j) = T(i % 4 == 1 ? 2 : 1);
      if (j == empty) A(i, j) = T(0);
    }
  const auto places = random_matrix<double>(3, 4, seed + 1);
  for (Index k = 0; k < 4; k++) {
    const auto place = [&](Index i) { return std::min<Index>(static_cast<Index>(std::abs(places(i, k)) * n), n - 1); };
    if (k < static_cast<Index>(seed % 5))
      A(place(0), place(1)) = T(places(2, k) > 0 ? infinity<Real<T>> : nan<Real<T>>);
  }
  return A;
}

template <typename T>
class NotFiniteFactors : public ::testing::Test {
 protected:
  static Index potrf_info(Uplo uplo, Dense<T> A, Index tile) {
    const Matrix<T> a(A.data.data(), n, n, n, {tile, tile});
    return potrf(uplo, a).wait();
  }
  static Index getrf_info(Dense<T> A, Index rows, Index panel) {
    const Matrix<T> a(A.data.data(), n, n, n, {rows, panel});
    return getrf(a).info.wait();
  }
  static Index getrf_nopiv_info(Dense<T> A, Index tile) {
    const Matrix<T> a(A.data.data(), n, n, n, {tile, tile});
    return getrf_nopiv(a).wait();
  }
};
using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(NotFiniteFactors, Types);

TYPED_TEST(NotFiniteFactors, AllInfinite) {
  using T = TypeParam;
  Dense<T> A(n, n);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++) A(i, j) = T(infinity<Real<T>>);
  for (const Index tile : tiles) {
    for (const auto uplo : {Uplo::Lower, Uplo::Upper}) EXPECT_EQ(this->potrf_info(uplo, A, tile), 2) << tile;
    EXPECT_EQ(this->getrf_info(A, tile, tile), 0) << tile;
    EXPECT_EQ(this->getrf_nopiv_info(A, tile), 0) << tile;
  }
}

/// An infinity becomes NaN if its row has another infinity, even if all other elements are zero.
TYPED_TEST(NotFiniteFactors, AColumnOfInfinities) {
  using T = TypeParam;
  for (const Index column : {Index{0}, Index{5}, n - 2}) {
    Dense<T> A(n, n);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++) A(i, j) = j == column ? T(infinity<Real<T>>) : i == j && j < column ? T(1) : T(0);
    for (const Index tile : tiles) {
      EXPECT_EQ(this->getrf_info(A, tile, tile), 0) << tile << ", " << column;
      EXPECT_EQ(this->getrf_info(A, n, tile), 0) << tile << ", " << column;
    }
  }
}

/// An infinite pivot is accepted: the finite elements of its row and column are negligible.
TYPED_TEST(NotFiniteFactors, InfinitiesOnTheDiagonal) {
  using T = TypeParam;
  auto A = hermitian<T>(0);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++)
      if (i == j) A(i, i) = T(i % 3 == 1 ? infinity<Real<T>> : Real<T>(2 * n));
      else if (!std::isfinite(std::abs(A(i, j)))) A(i, j) = T(0);
  for (const Index tile : tiles) {
    for (const auto uplo : {Uplo::Lower, Uplo::Upper}) EXPECT_EQ(this->potrf_info(uplo, A, tile), 0) << tile;
    EXPECT_EQ(this->getrf_info(A, tile, tile), 0) << tile;
    EXPECT_EQ(this->getrf_nopiv_info(A, tile), 0) << tile;
  }
}

TYPED_TEST(NotFiniteFactors, CholeskyFindsTheMinorForAllTiles) {
  using T = TypeParam;
  int failing = 0;
  for (std::uint64_t seed = 0; seed < trials; seed++) {
    const auto A = hermitian<T>(seed);
    const auto expected = info_of_cholesky(A);
    failing += expected > 0;
    for (const Index tile : tiles)
      for (const auto uplo : {Uplo::Lower, Uplo::Upper})
        EXPECT_EQ(this->potrf_info(uplo, A, tile), expected) << seed << ", tile " << tile;
  }
  EXPECT_GT(failing, trials / 2);
  EXPECT_LT(failing, trials);
}

TYPED_TEST(NotFiniteFactors, LuFindsTheZeroForAllPanels) {
  using T = TypeParam;
  int singular = 0;
  for (std::uint64_t seed = 0; seed < trials; seed++) {
    const auto A = with_zeros<T>(seed);
    const auto expected = info_of_lu(A, true), without_pivoting = info_of_lu(A, false);
    singular += expected > 0;
    for (const Index tile : tiles) {
      EXPECT_EQ(this->getrf_info(A, tile, tile), expected) << seed << ", tile " << tile;
      EXPECT_EQ(this->getrf_info(A, n, tile), expected) << seed << ", panel " << tile;
      EXPECT_EQ(this->getrf_nopiv_info(A, tile), without_pivoting) << seed << ", tile " << tile;
    }
  }
  EXPECT_GT(singular, 0);
  EXPECT_LT(singular, trials);
}

}  // namespace
}  // namespace tessera::test
