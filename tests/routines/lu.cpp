// SPDX-License-Identifier: BSD-3-Clause
// getrf, getrs and gesv, on pointers and on matrices: residuals as LAPACK's testers define them, the same pivots as the
// host's LAPACK, and bad input.
#include <cstdint>
#include <vector>

#include <tessera/lapack.hpp>

#include "algorithms/lu.hpp"
#include "algorithms/pivot_tiles.hpp"
#include "codelets/codelet.hpp"
#include "devices/cpu/host_lapack.hpp"
#include "plan/plans.hpp"
#include "routines/info.hpp"
#include "runtime/session.hpp"
#include "sinks/submit.hpp"
#include "support/residuals.hpp"
#include "support/runtime.hpp"
#include "support/tested_types.hpp"

namespace tessera::test {
namespace {

constexpr Index panel = 16;
const auto* const runtime = share_runtime(with_tile(panel));

constexpr Index sizes[] = {0, 1, 5, panel, panel + 1, 3 * panel - 1, 9 * panel + 3};
constexpr Op ops[] = {Op::NoTrans, Op::Trans, Op::ConjTrans};

/// op(A), written out.
template <Scalar T>
Dense<T> written_out(const Dense<T>& A, Op op) {
  Dense<T> result(A.n, A.m);
  if (op == Op::NoTrans) return packed(A);
  for (Index j = 0; j < A.m; j++)
    for (Index i = 0; i < A.n; i++) result(i, j) = op == Op::ConjTrans ? conjugate(A(j, i)) : A(j, i);
  return result;
}

template <typename T>
class Lu : public ::testing::Test {};
TYPED_TEST_SUITE(Lu, ScalarTypes);

TYPED_TEST(Lu, FactorizesAllShapes) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const Index m : sizes)
      for (const Index n : sizes) {
        const auto A = random_matrix<T>(m, n, static_cast<std::uint64_t>(100 * m + n), layout, (m + n) % 3);
        auto factors = A;
        std::vector<std::int64_t> pivots(static_cast<std::size_t>(std::min(m, n)));
        ASSERT_EQ(getrf(layout, m, n, factors.data.data(), factors.ld, pivots.data()), 0) << m << "x" << n;
        EXPECT_LE(residual(A, factors, pivots), threshold) << m << "x" << n;
        ASSERT_TRUE(padding_is_intact(factors)) << m << "x" << n;
      }
}

TYPED_TEST(Lu, ChoosesThePivotsOfTheHostsLapack) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{70, 70}, {90, 40}, {40, 90}}) {
    auto ours = random_matrix<T>(m, n, 3), theirs = ours;
    std::vector<std::int32_t> pivots(static_cast<std::size_t>(std::min(m, n)));
    std::vector<int> expected(pivots.size());
    ASSERT_EQ(getrf(m, n, ours.data.data(), m, pivots.data()), 0);
    ASSERT_EQ(device::cpu::getrf<T>(static_cast<int>(m), static_cast<int>(n), theirs.data.data(), static_cast<int>(m),
                                    expected.data()),
              0);
    EXPECT_TRUE(std::equal(pivots.begin(), pivots.end(), expected.begin())) << m << "x" << n;
  }
}

TYPED_TEST(Lu, FactorizesBadlyScaledMatrices) {
  using T = TypeParam;
  const Index n = 5 * panel + 3;
  auto A = random_matrix<T>(n, n, 5);
  for (Index j = 0; j < n; j++)  // rows of very different magnitudes, and nearly dependent columns
    for (Index i = 0; i < n; i++) {
      if (j > 0) A(i, j) = A(i, 0) + A(i, j) * static_cast<Real<T>>(1e-3);
      A(i, j) *= static_cast<Real<T>>(std::ldexp(1.0, static_cast<int>(-(i % 11))));
    }
  auto factors = A;
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  ASSERT_EQ(getrf(n, n, factors.data.data(), n, pivots.data()), 0);
  EXPECT_LE(residual(A, factors, pivots), threshold);
}

TYPED_TEST(Lu, CompletesASingularFactorization) {
  using T = TypeParam;
  const Index n = 4 * panel + 5;
  for (const Index zero : {Index{0}, panel - 1, panel, 3 * panel + 2, n - 1}) {
    auto A = random_matrix<T>(n, n, 6);
    for (Index i = 0; i < n; i++) A(i, zero) = T{};
    auto factors = A;
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
    EXPECT_EQ(getrf(n, n, factors.data.data(), n, pivots.data()), zero + 1);
    EXPECT_LE(residual(A, factors, pivots), threshold);
    const auto B = random_matrix<T>(n, 2, 7);
    auto X = B;
    factors = A;
    EXPECT_EQ(gesv(n, 2, factors.data.data(), n, pivots.data(), X.data.data(), n), zero + 1);
    EXPECT_EQ(X.data, B.data) << "B must not change";
  }
}

TYPED_TEST(Lu, EndsWithNotANumber) {
  using T = TypeParam;
  const Index n = 4 * panel;
  auto A = random_matrix<T>(n, n, 8);
  A(n / 2, n / 2) = T(std::numeric_limits<Real<T>>::quiet_NaN());
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  getrf(n, n, A.data.data(), n, pivots.data());
  for (Index i = 0; i < n; i++) {
    EXPECT_GE(pivots[static_cast<std::size_t>(i)], i + 1);
    EXPECT_LE(pivots[static_cast<std::size_t>(i)], n);
  }
  const auto is_nan = [](T x) { return std::isnan(std::abs(x)); };
  EXPECT_GE(std::ranges::count_if(A.data, is_nan), 1);  // how far it spreads depends on the LAPACK
}

TYPED_TEST(Lu, SolvesWithAllOperations) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const Index n : sizes)
      for (const Index nrhs : {Index{0}, Index{1}, panel + 1, Index{66}}) {  // few right-hand sides, and many
        auto A = random_matrix<T>(n, n, 9, layout, n % 2);
        for (Index i = 0; i < n; i++) A((i + 3) % n, i) += T(4);  // well-conditioned, but needs pivots
        const auto B = random_matrix<T>(n, nrhs, 10, layout, nrhs % 2);
        auto factors = A;
        auto X = B;
        std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
        ASSERT_EQ(gesv(layout, n, nrhs, factors.data.data(), factors.ld, pivots.data(), X.data.data(), X.ld), 0);
        EXPECT_LE(residual(A, factors, pivots), threshold) << n;
        EXPECT_LE(residual_of_solution(A, B, X), threshold) << n << ", " << nrhs;
        for (const auto op : ops) {
          X = B;
          getrs(layout, op, n, nrhs, factors.data.data(), factors.ld, pivots.data(), X.data.data(), X.ld);
          EXPECT_LE(residual_of_solution(written_out(A, op), B, X), threshold) << n << ", " << nrhs;
        }
      }
}

/// Panels whose triangles GPUs solve with inverses of diagonal blocks, which have more than one leaf, and whose pivots
/// fill more than one batch.
TYPED_TEST(Lu, FactorizesWidePanels) {
  using T = TypeParam;
  constexpr Index wide = 1100, n = 1300, nrhs = 33;
  const auto A = random_matrix<T>(n, n, 11), B = random_matrix<T>(n, nrhs, 12);
  auto factors = A;
  auto X = B;
  std::vector<Index> pivots;
  {
    const Matrix<T> a(factors.data.data(), n, n, n, {n, wide}), b(X.data.data(), n, nrhs, n, {n, 20});
    const auto [rows, info] = gesv(a, b);
    EXPECT_EQ(info.wait(), 0);
    pivots = rows.wait();
  }
  EXPECT_LE(residual(A, factors, pivots), threshold);
  EXPECT_LE(residual_of_solution(A, B, X), threshold);
}

TYPED_TEST(Lu, WorksOnMatricesWithoutAWait) {
  using T = TypeParam;
  const Index n = 4 * panel + 3;
  const auto A = random_matrix<T>(n, n, 13), B = random_matrix<T>(n, 5, 14);
  for (const auto op : ops)
    for (const Index rows : {n, panel, 3 * panel}) {
      auto factors = A;
      auto X = B;
      {
        const Matrix<T> a(factors.data.data(), n, n, n, {rows, panel}), b(X.data.data(), n, 5, n, {rows, 2});
        const auto pivots = getrf(a).pivots;  // the info is ignored
        getrs(op, a, pivots, b);
      }
      EXPECT_LE(residual_of_solution(written_out(A, op), B, X), 100 * threshold);  // A may be ill-conditioned
    }
}

TYPED_TEST(Lu, WorksOnAllTilesAndInBothOrders) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{70, 70}, {90, 40}, {40, 90}, {81, 80}})
    for (const Index rows : {m, panel, 2 * panel})
      for (const Index together : {0, 1, 2}) {  // 0: right-looking
        const auto A = random_matrix<T>(m, n, 15);
        auto factors = A;
        std::vector<Index> pivots;
        auto* const value = new codelets::InfoValue;  // the last task deletes it
        {
          const Matrix<T> a(factors.data.data(), m, n, m, {rows, panel});
          const auto& session = detail::MatrixAccess::grid(a).shared_session();
          const detail::PivotTiles tiles(session, m, n, panel);
          const auto outcome = std::make_shared<detail::Outcome>(session);
          const auto plan = plan::plan_panels(session->machine(), type_letter<T>, m, n, {rows, panel, panel});
          {
            sinks::Submitter submitter(*session, a);
            algorithms::PanelOps<sinks::Submitter> to(session->machine(), submitter, plan.grid.size(), a, tiles);
            if (together == 0) algorithms::getrf(to, value);
            else algorithms::getrf_out_of_core(to, together, value);
            to.outcome(outcome->handle(), value);
          }
          EXPECT_EQ(outcome->wait(), 0);
          pivots = tiles.wait();
        }
        EXPECT_LE(residual(A, factors, pivots), threshold) << m << "x" << n << ", " << rows << ", " << together;
      }
}

/// More rows than the leaves of a panel take on a GPU, see PanelFactorization, and more tiles than a panel may have.
TEST(LuOfTallPanels, HasASmallResidual) {
  constexpr Index m = 545000, n = panel + 1;
  const auto A = random_matrix<double>(m, n, 16);
  auto factors = A;
  std::vector<std::int64_t> pivots(n);
  ASSERT_EQ(getrf(m, n, factors.data.data(), m, pivots.data()), 0);
  EXPECT_LE(residual(A, factors, pivots), threshold);
}

TEST(LuBadInput, IsRefusedOnPointers) {
  std::vector<double> A(100, 1), B(100, 1);
  std::vector<std::int64_t> pivots{1, 2, 3};
  double *a = A.data(), *b = B.data();
  auto* p = pivots.data();
  expect_refused<ArgumentError>([&] { getrf(-1, 3, a, 3, p); }, "getrf", 1, "m");
  expect_refused<ArgumentError>([&] { getrf(3, -1, a, 3, p); }, "getrf", 2, "n");
  expect_refused<ArgumentError>([&] { getrf(3, 3, static_cast<double*>(nullptr), 3, p); }, "getrf", 3, "A");
  expect_refused<ArgumentError>([&] { getrf(3, 3, a, 2, p); }, "getrf", 4, "lda");
  expect_refused<ArgumentError>([&] { getrf(3, 3, a, 3, static_cast<std::int64_t*>(nullptr)); }, "getrf", 5, "ipiv");
  expect_refused<ArgumentError>([&] { getrf(static_cast<Layout>('x'), 3, 3, a, 3, p); }, "getrf", 1, "layout");
  expect_refused<ArgumentError>([&] { getrf(Layout::RowMajor, 2, 3, a, 2, p); }, "getrf", 5, "lda");
  expect_refused<ArgumentError>([&] { getrs(static_cast<Op>('x'), 3, 2, a, 3, p, b, 3); }, "getrs", 1, "op");
  expect_refused<ArgumentError>([&] { getrs(Op::NoTrans, 3, -2, a, 3, p, b, 3); }, "getrs", 3, "nrhs");
  expect_refused<ArgumentError>([&] { getrs(Op::NoTrans, 3, 2, a, 3, p, b, 2); }, "getrs", 8, "ldb");
  expect_refused<ShapeError>([&] { getrs(Op::NoTrans, 3, 2, a, 3, p, a + 4, 3); }, "getrs", 7, "B");
  pivots[1] = 4;
  expect_refused<ArgumentError>([&] { getrs(Op::NoTrans, 3, 2, a, 3, p, b, 3); }, "getrs", 6, "ipiv");
  expect_refused<ArgumentError>([&] { gesv(3, 2, a, 3, p, b, 2); }, "gesv", 7, "ldb");
  EXPECT_EQ(A, std::vector<double>(100, 1));
  EXPECT_EQ(B, std::vector<double>(100, 1));
}

TEST(LuBadInput, IsRefusedOnMatrices) {
  std::vector<double> A(36, 1), B(36, 1);
  const Matrix<double> a(A.data(), 6, 6, 6, {6, 2}), uneven(A.data(), 6, 6, 6, {3, 2}), b(B.data(), 6, 3, 6, {6, 3}),
      constant(static_cast<const double*>(A.data()), 6, 6, 6, {6, 2}), low(B.data(), 4, 3, 6, {4, 3}),
      other(B.data(), 6, 6, 6, {6, 3}), short_tiles(B.data(), 6, 3, 6, {2, 3});
  expect_refused<ShapeError>([&] { static_cast<void>(getrf(uneven)); }, "getrf", 1, "A");
  expect_refused<ArgumentError>([&] { static_cast<void>(getrf(constant)); }, "getrf", 1, "A");
  expect_refused<ArgumentError>([&] { static_cast<void>(getrf(a.transposed())); }, "getrf", 1, "A");
  expect_refused<ShapeError>([&] { static_cast<void>(gesv(a, low)); }, "gesv", 2, "B");
  expect_refused<ShapeError>([&] { static_cast<void>(gesv(a, a)); }, "gesv", 2, "B");
  expect_refused<ShapeError>([&] { static_cast<void>(gesv(a, short_tiles)); }, "gesv", 2, "B");
  const auto pivots = getrf(other).pivots;
  expect_refused<ShapeError>([&] { getrs(Op::NoTrans, a, pivots, b); }, "getrs", 3, "pivots");
}

}  // namespace
}  // namespace tessera::test
