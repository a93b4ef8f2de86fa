// SPDX-License-Identifier: BSD-3-Clause
// laswp, on pointers and on matrices, and the handles of pivots.
#include <cstdint>
#include <numeric>
#include <vector>

#include <tessera/lapack.hpp>

#include "devices/cpu/host_lapack.hpp"
#include "support/dense.hpp"
#include "support/runtime.hpp"
#include "support/tested_types.hpp"

namespace tessera::test {
namespace {

constexpr Index panel = 16;
const auto* const runtime = share_runtime(with_tile(panel));

template <typename T>
class Laswp : public ::testing::Test {};
TYPED_TEST_SUITE(Laswp, ScalarTypes);

template <Scalar T>
void swap_rows(Dense<T>& A, Index i, Index k) {
  for (Index j = 0; j < A.n; j++) std::swap(A(i, j), A(k, j));
}

/// The original position of each row, after all exchanges of a factorization.
std::vector<Index> origins(Index m, const std::vector<Index>& pivots) {
  std::vector<Index> rows(static_cast<std::size_t>(m));
  std::iota(rows.begin(), rows.end(), 0);
  for (std::size_t i = 0; i < pivots.size(); i++) std::swap(rows[i], rows[static_cast<std::size_t>(pivots[i] - 1)]);
  return rows;
}

TYPED_TEST(Laswp, ExchangesRowsOnPointers) {
  using T = TypeParam;
  const std::vector<std::int32_t> pivots{9, 9, 4, 11, 2, 1, 7, 12, 3, 10, 10, 11};
  struct Exchange {
    Index row, other;
  };
  const auto same = [&](Index k1, Index k2, Index incx, const std::vector<Exchange>& expected) {
    for (const auto layout : layouts) {
      const auto A = random_matrix<T>(12, 7, 1, layout, 2);
      auto ours = A, theirs = A;
      for (const auto& [row, other] : expected) swap_rows(theirs, row - 1, other - 1);
      laswp(layout, 7, ours.data.data(), ours.ld, k1, k2, pivots.data(), incx);
      EXPECT_EQ(ours.data, theirs.data) << k1 << " to " << k2 << " by " << incx << ", the padding included";
      const std::vector<std::int64_t> wide(pivots.begin(), pivots.end());
      ours = A;
      laswp(layout, 7, ours.data.data(), ours.ld, k1, k2, wide.data(), incx);
      EXPECT_EQ(ours.data, theirs.data);
    }
  };
  same(1, 4, 1, {{1, 9}, {2, 9}, {3, 4}, {4, 11}});
  same(1, 4, -1, {{4, 11}, {3, 4}, {2, 9}, {1, 9}});
  same(3, 6, 1, {{3, 4}, {4, 11}, {5, 2}, {6, 1}});
  same(2, 5, 3, {{2, 9}, {3, 2}, {4, 12}, {5, 10}});  // ipiv(2), (5), (8) and (11)
  same(2, 5, -3, {{5, 10}, {4, 12}, {3, 2}, {2, 9}});
  same(5, 4, 1, {});
  same(1, 12, 0, {});
}

TYPED_TEST(Laswp, AgreesWithTheHostsLapack) {
  using T = TypeParam;
  constexpr int m = 40, n = 23;
  std::vector<int> pivots(m);
  for (int i = 0; i < m; i++) pivots[static_cast<std::size_t>(i)] = i + 1 + (7 * i) % (m - i);
  for (const int step : {1, -1}) {
    const auto A = random_matrix<T>(m, n, 2);
    auto ours = A, theirs = A;
    laswp(Index{n}, ours.data.data(), ours.ld, Index{1}, Index{m}, pivots.data(), Index{step});
    device::cpu::laswp<T>(n, theirs.data.data(), static_cast<int>(theirs.ld), m, pivots.data(), step);
    EXPECT_EQ(ours.data, theirs.data) << step;
  }
}

/// A single graph: the factorization of A, the exchanges on B, and the end of both.
TYPED_TEST(Laswp, ExchangesRowsOnMatrices) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{70, 70}, {90, 40}, {40, 90}})
    for (const Index rows : {m, panel, Index{23}, 2 * panel}) {  // any tiles
      auto A = random_matrix<T>(m, n, 3);
      const auto B = random_matrix<T>(m, 21, 4);
      auto exchanged = B, undone = B;
      std::vector<Index> pivots;
      {
        const Matrix<T> a(A.data.data(), m, n, m, {m, panel}), b(exchanged.data.data(), m, 21, m, {rows, 8}),
            c(undone.data.data(), m, 21, m, {rows, 8});
        const auto factors = getrf(a);
        laswp(b, factors.pivots);
        laswp(c, factors.pivots);
        laswp(c, factors.pivots, -1);
        pivots = factors.pivots.wait();
      }
      const auto from = origins(m, pivots);
      EXPECT_NE(from, origins(m, {})) << "no row is exchanged, so this tests nothing";
      for (Index j = 0; j < 21; j++)
        for (Index i = 0; i < m; i++) ASSERT_EQ(exchanged(i, j), B(from[static_cast<std::size_t>(i)], j)) << i;
      EXPECT_EQ(undone.data, B.data) << m << "x" << n << ", " << rows;
    }
}

/// More pivots than a batch of moves has, see PivotTile.
TEST(LaswpOfWidePanels, ExchangesAndUndoes) {
  constexpr Index n = 1300, wide = 1100;
  auto A = random_matrix<double>(n, n, 5);
  const auto B = random_matrix<double>(n, 3, 6);
  auto exchanged = B, undone = B;
  std::vector<Index> pivots;
  {
    const Matrix<double> a(A.data.data(), n, n, n, {n, wide}), b(exchanged.data.data(), n, 3, n, {300, 2}),
        c(undone.data.data(), n, 3, n, {300, 2});
    const auto factors = getrf(a);
    laswp(b, factors.pivots);
    laswp(c, factors.pivots);
    laswp(c, factors.pivots, -1);
    pivots = factors.pivots.wait();
  }
  const auto from = origins(n, pivots);
  for (Index j = 0; j < 3; j++)
    for (Index i = 0; i < n; i++) ASSERT_EQ(exchanged(i, j), B(from[static_cast<std::size_t>(i)], j)) << i;
  EXPECT_EQ(undone.data, B.data);
}

TEST(PivotsHandle, ExistsForEachPanel) {
  constexpr Index m = 70, n = 37;
  auto A = random_matrix<double>(m, n, 7);
  const Matrix<double> a(A.data.data(), m, n, m, {m, panel});
  const auto pivots = getrf(a).pivots;
  ASSERT_EQ(pivots.panels(), 3);
  for (Index k = 0; k < 3; k++) EXPECT_NE(pivots.handle(k), nullptr);
  expect_refused<ArgumentError>([&] { static_cast<void>(pivots.handle(3)); }, "Pivots::handle", 1, "k");
}

TEST(LaswpBadInput, IsRefusedOnPointers) {
  std::vector<double> A(100, 1);
  std::vector<std::int64_t> pivots{2, 3, 5};
  double* a = A.data();
  auto* p = pivots.data();
  expect_refused<ArgumentError>([&] { laswp(Index{-1}, a, 5, 1, 3, p, 1); }, "laswp", 1, "n");
  expect_refused<ArgumentError>([&] { laswp(Index{3}, static_cast<double*>(nullptr), 5, 1, 3, p, 1); }, "laswp", 2,
                                "A");
  expect_refused<ArgumentError>([&] { laswp(Index{3}, a, 4, 1, 3, p, 1); }, "laswp", 3, "lda");  // row 5 is exchanged
  expect_refused<ArgumentError>([&] { laswp(Index{3}, a, 5, 0, 3, p, 1); }, "laswp", 4, "k1");
  expect_refused<ArgumentError>([&] { laswp(Index{3}, a, 5, 1, 3, static_cast<std::int64_t*>(nullptr), 1); }, "laswp",
                                6, "ipiv");
  expect_refused<ArgumentError>([&] { laswp(static_cast<Layout>('x'), 3, a, 5, 1, 3, p, 1); }, "laswp", 1, "layout");
  expect_refused<ArgumentError>([&] { laswp(Layout::RowMajor, 3, a, 2, 1, 3, p, 1); }, "laswp", 4, "lda");
  pivots[1] = 0;
  expect_refused<ArgumentError>([&] { laswp(Index{3}, a, 5, 1, 3, p, 1); }, "laswp", 6, "ipiv");
  EXPECT_EQ(A, std::vector<double>(100, 1));
}

TEST(LaswpBadInput, IsRefusedOnMatrices) {
  std::vector<double> A(36, 1), B(1000, 1);
  const Matrix<double> a(A.data(), 6, 6, 6, {6, 2}), low(B.data(), 5, 3, 6, {5, 3}),
      constant(static_cast<const double*>(B.data()), 6, 3, 6, {6, 3}), b(B.data(), 6, 3, 6, {6, 3});
  const auto pivots = getrf(a).pivots;
  expect_refused<ArgumentError>([&] { laswp(b.transposed(), pivots); }, "laswp", 1, "A");
  expect_refused<ArgumentError>([&] { laswp(constant, pivots); }, "laswp", 1, "A");
  expect_refused<ShapeError>([&] { laswp(low, pivots); }, "laswp", 2, "pivots");
  expect_refused<ArgumentError>([&] { laswp(b, pivots, 2); }, "laswp", 3, "incx");
  const Matrix<double> flat(B.data(), 200, 3, 200, {1, 3});
  expect_refused<ShapeError>([&] { laswp(flat, pivots); }, "laswp", 1, "A");
}

}  // namespace
}  // namespace tessera::test
