// SPDX-License-Identifier: BSD-3-Clause
// potrf, potrs and posv, on pointers and on matrices: residuals as LAPACK's testers define them, results compared with
// the host's LAPACK, and bad input.
#include <starpu.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "devices/cpu/host_blas.hpp"
#include "devices/cpu/host_lapack.hpp"
#include "support/residuals.hpp"
#include "support/runtime.hpp"
#include "support/tested_types.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 16;
const auto* const runtime = share_runtime(with_tile(tile));

/// No tile, one tile, several tiles, and ragged sizes.
constexpr Index sizes[] = {0, 1, 5, tile, tile + 1, 3 * tile - 1, 5 * tile + 3};

/// A Hermitian matrix L Lᴴ. The diagonal of L decreases from 1 to `last`, so the condition number is about 1/last².
template <Scalar T>
Dense<T> positive_matrix(Index n, std::uint64_t seed, double last = 0.5, Layout layout = Layout::ColMajor,
                         Index pad = 0) {
  auto L = random_matrix<T>(n, n, seed);
  for (Index j = 0; j < n; j++) {
    const auto size = static_cast<Real<T>>(std::pow(last, static_cast<double>(j) / static_cast<double>(n)));
    for (Index i = 0; i < n; i++)
      L(i, j) = i < j ? T{} : i == j ? T(size) : L(i, j) * size / static_cast<Real<T>>(std::sqrt(n));
  }
  Dense<T> A(n, n, layout, pad), product(n, n);
  const int order = static_cast<int>(n);
  if (n > 0)
    device::cpu::gemm<T>(Op::NoTrans, Op::ConjTrans, order, order, order, T(1), L.data.data(), order, L.data.data(),
                         order, T{}, product.data.data(), order);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++)
      A(i, j) = i == j ? T(std::real(product(i, j))) : i > j ? product(i, j) : conjugate(product(j, i));
  return A;
}

template <typename T>
class Cholesky : public ::testing::Test {};
TYPED_TEST_SUITE(Cholesky, ScalarTypes);

TYPED_TEST(Cholesky, FactorizesInAllLayoutsAndTriangles) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const auto uplo : triangles)
      for (const Index n : sizes) {
        const auto A = positive_matrix<T>(n, static_cast<std::uint64_t>(n), 0.5, layout, n % 3);
        const auto given = without_rest(A, uplo);
        auto factor = given;
        ASSERT_EQ(potrf(layout, uplo, n, factor.data.data(), factor.ld), 0) << n;
        EXPECT_LE(residual(A, factor, uplo), threshold) << n;
        EXPECT_TRUE(rest_is_unchanged(given, factor, uplo)) << n;
      }
}

TYPED_TEST(Cholesky, AgreesWithTheHostsLapack) {
  using T = TypeParam;
  for (const auto uplo : triangles) {
    const Index n = 4 * tile + 7;
    const auto A = positive_matrix<T>(n, 9);
    auto ours = A, theirs = A;
    ASSERT_EQ(potrf(uplo, n, ours.data.data(), n), 0);
    ASSERT_EQ(device::cpu::potrf<T>(uplo, static_cast<int>(n), theirs.data.data(), static_cast<int>(n)), 0);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++) ASSERT_LE(std::abs(ours(i, j) - theirs(i, j)), 1e3 * unit<T>) << i << ", " << j;
  }
}

TYPED_TEST(Cholesky, FactorizesIllConditionedAndGradedMatrices) {
  using T = TypeParam;
  const Index n = 5 * tile + 3;
  const double last = std::is_same_v<Real<T>, float> ? 1e-2 : 1e-6;  // condition numbers of 10⁴ and 10¹²
  auto A = positive_matrix<T>(n, 3, last);
  auto factor = A;
  ASSERT_EQ(potrf(Uplo::Lower, n, factor.data.data(), n), 0);
  EXPECT_LE(residual(A, factor, Uplo::Lower), threshold);
  for (Index j = 0; j < n; j++)  // rows and columns of very different magnitudes
    for (Index i = 0; i < n; i++) A(i, j) *= static_cast<Real<T>>(std::ldexp(1.0, static_cast<int>(-(i / 8 + j / 8))));
  factor = A;
  ASSERT_EQ(potrf(Uplo::Lower, n, factor.data.data(), n), 0);
  EXPECT_LE(residual(A, factor, Uplo::Lower), threshold);
}

TYPED_TEST(Cholesky, SaysWhichMinorIsNotPositive) {
  using T = TypeParam;
  const Index n = 4 * tile + 5;
  for (const auto uplo : triangles)
    for (const Index bad : {Index{0}, Index{3}, tile - 1, tile, 2 * tile + 1, n - 1})
      for (const Real<T> value : {Real<T>(-1), Real<T>(0), std::numeric_limits<Real<T>>::quiet_NaN()}) {
        auto A = positive_matrix<T>(n, 4);
        A(bad, bad) = T(value);
        auto B = random_matrix<T>(n, 2, 5);
        const auto before = B;
        auto factor = A;
        EXPECT_EQ(potrf(uplo, n, factor.data.data(), n), bad + 1) << value;
        factor = A;
        EXPECT_EQ(posv(uplo, n, 2, factor.data.data(), n, B.data.data(), n), bad + 1) << value;
        EXPECT_EQ(B.data, before.data) << "B must not change";
      }
}

TYPED_TEST(Cholesky, ReportsTheFirstOfSeveralMinors) {
  using T = TypeParam;
  const Index n = 4 * tile;
  auto A = positive_matrix<T>(n, 4);
  for (const Index bad : {3 * tile, tile + 2, n - 1}) A(bad, bad) = T(-1);
  EXPECT_EQ(potrf(Uplo::Lower, n, A.data.data(), n), tile + 3);
}

TYPED_TEST(Cholesky, SpreadsNotANumberAndEnds) {
  using T = TypeParam;
  const Index n = 4 * tile;
  auto A = positive_matrix<T>(n, 4);
  A(3 * tile + 1, tile) = T(std::numeric_limits<Real<T>>::quiet_NaN());  // reaches the diagonal of its row
  EXPECT_EQ(potrf(Uplo::Lower, n, A.data.data(), n), 3 * tile + 2);
}

TYPED_TEST(Cholesky, SolvesInAllLayoutsAndTriangles) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const auto uplo : triangles)
      for (const Index n : sizes)
        for (const Index nrhs : {Index{0}, Index{1}, Index{3}, tile + 1}) {
          const auto A = positive_matrix<T>(n, 7, 0.5, layout, n % 2);
          const auto B = random_matrix<T>(n, nrhs, 8, layout, nrhs % 2);
          const auto given = without_rest(A, uplo);
          auto factor = given;
          auto X = B;
          ASSERT_EQ(posv(layout, uplo, n, nrhs, factor.data.data(), factor.ld, X.data.data(), X.ld), 0);
          EXPECT_LE(residual(A, factor, uplo), threshold) << n;
          EXPECT_LE(residual_of_solution(A, B, X), threshold) << n << ", " << nrhs;
          EXPECT_TRUE(rest_is_unchanged(given, factor, uplo));
          auto Y = B;
          potrs(layout, uplo, n, nrhs, factor.data.data(), factor.ld, Y.data.data(), Y.ld);
          EXPECT_LE(residual_of_solution(A, B, Y), threshold) << n << ", " << nrhs;
          EXPECT_TRUE(padding_is_intact(Y)) << n << ", " << nrhs;
        }
}

/// Tiles that GPUs solve with inverses of diagonal blocks.
TYPED_TEST(Cholesky, FactorizesLargeTiles) {
  using T = TypeParam;
  constexpr Index large = 320, n = 3 * large - 40, nrhs = 33;
  for (const auto uplo : triangles) {
    const auto A = positive_matrix<T>(n, 11);
    const auto B = random_matrix<T>(n, nrhs, 12);
    auto factor = without_rest(A, uplo);
    auto X = B;
    {
      const Matrix<T> a(factor.data.data(), n, n, n, {large, large}), b(X.data.data(), n, nrhs, n, {large, nrhs});
      const auto info = posv(uplo, a, b);
      EXPECT_EQ(info.wait(), 0);
    }
    EXPECT_LE(residual(A, factor, uplo), threshold);
    EXPECT_LE(residual_of_solution(A, B, X), threshold);
  }
}

TYPED_TEST(Cholesky, TakesViewsAndTransposes) {
  using T = TypeParam;
  const Index n = 4 * tile + 3, inner = n - 2 * tile;
  const auto A = positive_matrix<T>(inner, 13);
  for (const auto uplo : triangles)
    for (const bool transpose : {false, true}) {
      Dense<T> whole = random_matrix<T>(n, n, 14);
      for (Index j = 0; j < inner; j++)
        for (Index i = 0; i < inner; i++) whole(2 * tile + i, 2 * tile + j) = transpose ? conjugate(A(j, i)) : A(i, j);
      const auto before = whole;
      const auto B = random_matrix<T>(inner, 3, 15);
      auto X = B;
      {
        const Matrix<T> all(whole.data.data(), n, n, n, {tile, tile}), b(X.data.data(), inner, 3, inner, {tile, 2});
        auto a = all.view(2, all.mt(), 2, all.nt());
        if (transpose) a = a.conjugate_transposed();
        const auto info = potrf(uplo, a);
        potrs(uplo, a, b);
        EXPECT_EQ(info.wait(), 0);
      }
      EXPECT_LE(residual_of_solution(A, B, X), threshold);
      for (Index j = 0; j < n; j++)
        for (Index i = 0; i < n; i++)
          if (i < 2 * tile || j < 2 * tile) {
            ASSERT_EQ(whole(i, j), before(i, j)) << "outside the view";
          }
    }
}

// --- between the program's own tasks ---------------------------------------------------------------------------------

void double_info(void* buffers[], void* /*unused*/) {
  *reinterpret_cast<std::int64_t*>(STARPU_VARIABLE_GET_PTR(buffers[1])) =
      2 * *reinterpret_cast<const std::int64_t*>(STARPU_VARIABLE_GET_PTR(buffers[0]));
}

TEST(CholeskyInfo, IsAnInputOfOtherTasks) {
  if (starpu_cpu_worker_get_count() == 0) GTEST_SKIP() << "no CPU worker runs the task";
  starpu_codelet codelet{};
  codelet.cpu_funcs[0] = double_info;
  codelet.nbuffers = 2;
  codelet.modes[0] = STARPU_R, codelet.modes[1] = STARPU_W;
  const Index n = 3 * tile;
  auto A = positive_matrix<double>(n, 16);
  A(tile, tile) = -1;
  std::int64_t twice = 0;
  starpu_data_handle_t result{};
  starpu_variable_data_register(&result, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&twice), sizeof twice);
  {
    const Matrix<double> a(A.data.data(), n, n, n, {tile, tile});
    const auto info = potrf(Uplo::Lower, a);
    ASSERT_EQ(starpu_task_insert(&codelet, STARPU_R, info.handle(), STARPU_W, result, 0), 0);
  }  // the info is destroyed before its tasks may have run
  starpu_data_unregister(result);
  EXPECT_EQ(twice, 2 * (tile + 1));
}

TEST(CholeskyInfo, MayBeIgnoredAndAwaitedTwice) {
  const Index n = 3 * tile;
  auto A = positive_matrix<double>(n, 17);
  const Matrix<double> a(A.data.data(), n, n, n, {tile, tile});
  static_cast<void>(potrf(Uplo::Lower, a));
  const Matrix<double> empty(A.data.data(), 0, 0, 1, {tile, tile});
  const auto info = potrf(Uplo::Upper, empty);
  EXPECT_EQ(info.wait(), 0);
  EXPECT_EQ(info.wait(), 0);
}

// --- bad input -------------------------------------------------------------------------------------------------------

TEST(CholeskyBadInput, IsRefusedOnPointers) {
  std::vector<double> A(100, 1), B(100, 1);
  double *a = A.data(), *b = B.data();
  const auto lower = Uplo::Lower;
  expect_refused<ArgumentError>([&] { potrf(static_cast<Uplo>('x'), 3, a, 3); }, "potrf", 1, "uplo");
  expect_refused<ArgumentError>([&] { potrf(lower, -1, a, 3); }, "potrf", 2, "n");
  expect_refused<ArgumentError>([&] { potrf(lower, 3, static_cast<double*>(nullptr), 3); }, "potrf", 3, "A");
  expect_refused<ArgumentError>([&] { potrf(lower, 3, a, 2); }, "potrf", 4, "lda");
  expect_refused<ArgumentError>([&] { potrf(static_cast<Layout>('x'), lower, 3, a, 3); }, "potrf", 1, "layout");
  expect_refused<ArgumentError>([&] { potrf(Layout::RowMajor, lower, 3, a, 2); }, "potrf", 5, "lda");
  expect_refused<ArgumentError>([&] { potrs(lower, 3, -1, a, 3, b, 3); }, "potrs", 3, "nrhs");
  expect_refused<ArgumentError>([&] { potrs(lower, 3, 2, a, 3, b, 2); }, "potrs", 7, "ldb");
  expect_refused<ArgumentError>([&] { potrs(Layout::RowMajor, lower, 3, 2, a, 3, b, 1); }, "potrs", 8, "ldb");
  expect_refused<ArgumentError>([&] { posv(lower, 3, 2, a, 3, static_cast<double*>(nullptr), 3); }, "posv", 6, "B");
  expect_refused<ShapeError>([&] { posv(lower, 3, 2, a, 3, a + 2, 3); }, "posv", 6, "B");
  expect_refused<ArgumentError>([&] { posv(lower, 3, 0, static_cast<double*>(nullptr), 3, b, 3); }, "posv", 4, "A");
  EXPECT_NO_THROW(potrs(lower, 3, 0, static_cast<double*>(nullptr), 3, b, 3));
  EXPECT_EQ(A, std::vector<double>(100, 1));
  EXPECT_EQ(B, std::vector<double>(100, 1));
}

TEST(CholeskyBadInput, IsRefusedOnMatrices) {
  std::vector<double> A(400, 1), B(400, 1);
  const Matrix<double> a(A.data(), 6, 6, 6, {2, 2}), wide(A.data(), 4, 6, 6, {2, 2}),
      tall_tiles(A.data(), 6, 6, 6, {4, 2}), constant(static_cast<const double*>(A.data()), 6, 6, 6, {2, 2}),
      b(B.data(), 6, 3, 6, {2, 3}), other_rows(B.data(), 4, 3, 6, {2, 3}), other_tiles(B.data(), 6, 3, 6, {3, 3});
  const auto lower = Uplo::Lower;
  expect_refused<ArgumentError>([&] { potrf(static_cast<Uplo>('x'), a); }, "potrf", 1, "uplo");
  expect_refused<ShapeError>([&] { potrf(lower, wide); }, "potrf", 2, "A");
  expect_refused<ShapeError>([&] { potrf(lower, tall_tiles); }, "potrf", 2, "A");
  expect_refused<ArgumentError>([&] { potrf(lower, constant); }, "potrf", 2, "A");
  expect_refused<ShapeError>([&] { potrs(lower, a, other_rows); }, "potrs", 3, "B");
  expect_refused<ShapeError>([&] { potrs(lower, a, other_tiles); }, "potrs", 3, "B");
  expect_refused<ShapeError>([&] { posv(lower, a, a); }, "posv", 3, "B");
  std::vector<std::complex<double>> C(36, 1);
  const Matrix<std::complex<double>> c(C.data(), 6, 6, 6, {2, 2}), d(C.data() + 18, 6, 3, 6, {2, 3});
  const auto left = c.view(0, 3, 0, 1);
  expect_refused<ShapeError>([&] { posv(lower, c, d); }, "posv", 3, "B");
}

}  // namespace
}  // namespace tessera::test
