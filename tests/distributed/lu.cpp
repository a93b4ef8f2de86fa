// SPDX-License-Identifier: BSD-3-Clause
// LU with partial pivoting over processes, compared with a single process.
#include <array>
#include <random>

#include <tessera/blas.hpp>
#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "whole.hpp"

namespace tessera::test::lu_cpp {

namespace {

constexpr Index n = 45, nrhs = 19;

template <typename T>
class DistributedLu : public testing::Test {
 protected:
  const Grid grid_ = grid();
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DistributedLu, Types);

/// Well conditioned, but only after its rows have been exchanged.
template <Scalar T>
Whole<T> matrix(Index rows, Index columns, unsigned seed = 1) {
  Whole<T> a(rows, columns, seed);
  for (Index j = 0; j < columns; j++) a((7 * j + 3) % rows, j) += T(static_cast<Real<T>>(rows));
  return a;
}

// In place on grids with one row, if the rows of a tile are a multiple of its columns; all others are copied to panels.
constexpr TileSize cuts[] = {{8, 8}, {16, 8}, {n, 7}, {8, 16}, {5, 3}, {64, 64}, {1, 1}};

TYPED_TEST(DistributedLu, Factorizes) {
  using T = TypeParam;
  for (const auto& [rows, columns] : {std::pair{n, n}, {n, Index{30}}, {Index{30}, n}, {Index{1}, n}, {n, Index{1}}})
    for (const auto& cut : cuts) {
      SCOPED_TRACE(testing::Message() << rows << "x" << columns << " in " << cut.rows << "x" << cut.columns);
      auto a = matrix<T>(rows, columns);
      const auto A = distributed(this->grid_, a, cut);
      const auto [pivots, info] = getrf(A);
      std::vector<std::int64_t> wanted(static_cast<std::size_t>(std::min(rows, columns)));
      EXPECT_EQ(getrf(rows, columns, a.data.data(), a.ld(), wanted.data()), 0);
      expect_near(A, a, n, static_cast<double>(rows));
      EXPECT_EQ(pivots.wait(), std::vector<Index>(wanted.begin(), wanted.end()));
      EXPECT_EQ(info.wait(), 0);
    }
}

TYPED_TEST(DistributedLu, TellsAllProcessesOfAZero) {
  using T = TypeParam;
  for (const auto& cut : {TileSize{8, 8}, TileSize{n, 7}})
    for (const Index zero : {Index{0}, Index{20}, n - 1}) {
      auto a = matrix<T>(n, n);
      for (Index i = 0; i < n; i++) a(i, zero) = T{};
      const auto A = distributed(this->grid_, a, cut);
      const auto [pivots, info] = getrf(A);
      std::vector<std::int64_t> wanted(n);
      EXPECT_EQ(getrf(n, n, a.data.data(), n, wanted.data()), zero + 1);
      EXPECT_EQ(info.wait(), zero + 1);
      EXPECT_EQ(info.wait(), zero + 1);
      expect_near(A, a, n, n);
    }
}

TYPED_TEST(DistributedLu, Solves) {
  using T = TypeParam;
  for (const auto& cut : {TileSize{8, 8}, TileSize{n, 7}, TileSize{5, 5}})
    for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
      if (cut.rows == n && this->grid_.p() > 1) continue;  // B is then in one row of processes; tested below
      SCOPED_TRACE(testing::Message() << cut.rows << "x" << cut.columns << " " << static_cast<char>(op));
      auto a = matrix<T>(n, n);
      Whole<T> b(n, nrhs, 2);
      const auto A = distributed(this->grid_, a, cut), B = distributed(this->grid_, b, {cut.rows, 6});
      const auto [pivots, info] = getrf(A);
      getrs(op, A, pivots, B);  // before anything has been waited for
      std::vector<std::int64_t> ipiv(n);
      EXPECT_EQ(getrf(n, n, a.data.data(), n, ipiv.data()), 0);
      getrs(op, n, nrhs, a.data.data(), n, ipiv.data(), b.data.data(), n);
      expect_near(A, a, n, n);
      expect_near(B, b, n);
      getrs(op, A, pivots, B);  // the pivots can be used again
      getrs(op, n, nrhs, a.data.data(), n, ipiv.data(), b.data.data(), n);
      expect_near(B, b, n);
      EXPECT_EQ(info.wait(), 0);
    }
}

TYPED_TEST(DistributedLu, SolvesTogetherWithOtherRoutines) {  // gemm reads what gesv has left, and the other way round
  using T = TypeParam;
  constexpr TileSize cut{8, 8};
  auto a = matrix<T>(n, n);
  Whole<T> b(n, nrhs, 2), c(n, nrhs, 3);
  const auto A = distributed(this->grid_, a, cut), B = distributed(this->grid_, b, cut),
             C = distributed(this->grid_, c, cut);
  gemm(Op::NoTrans, Op::NoTrans, T(1), A, C, T(1), B);
  const auto [pivots, info] = gesv(A, B);
  gemm(Op::NoTrans, Op::NoTrans, T(1), A, B, T(1), C);
  gemm(Op::NoTrans, Op::NoTrans, n, nrhs, n, T(1), a.data.data(), n, c.data.data(), n, T(1), b.data.data(), n);
  std::vector<std::int64_t> ipiv(n);
  EXPECT_EQ(gesv(n, nrhs, a.data.data(), n, ipiv.data(), b.data.data(), n), 0);
  gemm(Op::NoTrans, Op::NoTrans, n, nrhs, n, T(1), a.data.data(), n, b.data.data(), n, T(1), c.data.data(), n);
  expect_near(A, a, n, n);
  expect_near(B, b, n, 2);
  expect_near(C, c, 2 * n, n);
  EXPECT_EQ(info.wait(), 0);
}

TYPED_TEST(DistributedLu, FactorizesViews) {  // tiles [1, 4) x [2, 5) of 48×48
  using T = TypeParam;
  constexpr TileSize cut{8, 8};
  auto a = matrix<T>(48, 48);
  const auto A = distributed(this->grid_, a, cut);
  for (Index j = 0; j < 24; j++) a(8 + (7 * j + 3) % 24, 16 + j) += T(48);
  scatter(a, A);
  const auto [pivots, info] = getrf(A.view(1, 4, 2, 5));
  std::vector<std::int64_t> wanted(24);
  EXPECT_EQ(getrf(24, 24, &a(8, 16), 48, wanted.data()), 0);
  expect_near(A, a, 24, 100);
  EXPECT_EQ(pivots.wait(), std::vector<Index>(wanted.begin(), wanted.end()));
  EXPECT_EQ(info.wait(), 0);
}

TEST(DistributedLuOfNothing, HasNoPivots) {
  const auto g = grid();
  for (const auto& [rows, columns] : {std::pair{Index{0}, Index{5}}, {Index{5}, Index{0}}, {Index{0}, Index{0}}}) {
    const DistributedMatrix<double> A(g, rows, columns, {8, 8});
    const auto [pivots, info] = getrf(A);
    EXPECT_TRUE(pivots.wait().empty());
    EXPECT_EQ(info.wait(), 0);
  }
}

TEST(DistributedLuMemory, HoldsFewPanelsOfOtherProcesses) {
  if (grid_rows * grid_columns == 1) GTEST_SKIP() << "there are no other processes";
  const Grid g(1, grid_rows * grid_columns);
  constexpr Index rows = 512, width = 8;
  const Index held = 4 + g.q();  // of 64 panels; those before the process's own next panel may be early
  const auto A = distributed(g, matrix<double>(rows, rows), {rows, width});
  const auto before = in_use();
  const auto [pivots, info] = getrf(A);
  const auto most = most_in_use();
  EXPECT_EQ(info.wait(), 0);
  constexpr Index pivot_tiles = 64 * 1024;
  EXPECT_LE(most - before, held * rows * width * Index{sizeof(double)} + pivot_tiles);
}

TEST(DistributedLuMemory, SolvesWithFewPanelsOfOtherProcesses) {
  if (grid_rows * grid_columns == 1) GTEST_SKIP() << "there are no other processes";
  const Grid g(1, grid_rows * grid_columns);
  // Two processes hold back only if told to: copies take no more memory than their parts of A and B.
  const Controlled held_back(g, {.holds_back = g.q() > 2 ? std::optional<bool>() : true});
  // Of 64 panels; on a busy machine, the memory of two is not free at once. All of A is small, since a memory may have
  // room for 1 MiB.
  constexpr Index rows = 256, width = 4;
  const Index held = std::max(4, g.q()) + 2;
  const auto a = matrix<double>(rows, rows);
  auto factors = a;
  std::vector<std::int64_t> ipiv(rows);
  getrf(rows, rows, factors.data.data(), rows, ipiv.data());
  for (const auto& [height, op] :
       {std::pair{rows, Op::NoTrans}, {Index{64}, Op::NoTrans}, {Index{64}, Op::ConjTrans}}) {
    SCOPED_TRACE(testing::Message() << "tiles of " << height << " rows, " << static_cast<char>(op));
    Whole<double> b(rows, 40, 2);
    const auto A = distributed(g, a, {height, width}), B = distributed(g, b, {height, 10});
    const auto [pivots, info] = getrf(A);
    EXPECT_EQ(info.wait(), 0);
    g.wait();
    const auto before = in_use();
    getrs(op, A, pivots, B);
    const auto most = most_in_use();
    EXPECT_LE(most - before, held * rows * width * Index{sizeof(double)});
    getrs(op, rows, b.n, factors.data.data(), rows, ipiv.data(), b.data.data(), rows);
    expect_near(B, b, rows);
  }
}

// Also beyond the limits of tiles: blocks of one element, ragged ends, and more processes than blocks.
TYPED_TEST(DistributedLu, SolvesWhatIsHeldBackInRandomShapes) {
  using T = TypeParam;
  std::mt19937 random(59);
  const auto one_of = [&](const auto& all) { return all[random() % std::size(all)]; };
  const Grid in_a_row(1, grid_rows * grid_columns);
  for (int round = 0; round < 6; round++) {
    const Index order = 1 + random() % 70, columns = 1 + random() % 40, block = one_of(std::array<Index, 3>{1, 16, 64});
    const Op op = one_of(std::array{Op::NoTrans, Op::Trans, Op::ConjTrans});
    const Grid& g = random() % 2 == 0 ? in_a_row : this->grid_;
    SCOPED_TRACE(testing::Message() << order << "x" << columns << " in blocks of " << block << " on " << g.p() << "x"
                                    << g.q() << " processes, " << static_cast<char>(op));
    const Controlled held_back(g, {.holds_back = true});
    auto a = matrix<T>(order, order);
    Whole<T> b(order, columns, 2), c(order, columns, 3);
    const auto A = distributed(g, a, {block, block}), B = distributed(g, b, {block, block}),
               C = distributed(g, c, {block, block});
    const auto [pivots, info] = gesv(A, B);
    getrs(op, A, pivots, C);
    std::vector<std::int64_t> ipiv(static_cast<std::size_t>(order));
    EXPECT_EQ(getrf(order, order, a.data.data(), order, ipiv.data()), 0);
    getrs(Op::NoTrans, order, columns, a.data.data(), order, ipiv.data(), b.data.data(), order);
    getrs(op, order, columns, a.data.data(), order, ipiv.data(), c.data.data(), order);
    expect_near(B, b, order);
    expect_near(C, c, order);
    EXPECT_EQ(info.wait(), 0);
  }
}

TEST(DistributedLuRefuses, WhatDoesNotFit) {
  const auto g = grid();
  const auto a = matrix<double>(n, n);
  const auto A = distributed(g, a, {8, 8}), B = distributed(g, Whole<double>(n, nrhs, 2), {8, 6}),
             short_b = distributed(g, Whole<double>(n - 1, nrhs, 2), {8, 6});
  EXPECT_THROW(getrf(A.transposed()), ArgumentError);
  const auto [pivots, info] = getrf(A);
  EXPECT_THROW(getrs(Op::NoTrans, A, pivots, short_b), ShapeError);
  EXPECT_THROW(getrs(Op::NoTrans, A, pivots, B.transposed()), Error);
  EXPECT_THROW(getrs(static_cast<Op>('X'), A, pivots, B), ArgumentError);
  auto own = a;
  const auto [own_pivots, own_info] = getrf(Matrix<double>(own.data.data(), n, n, own.ld(), {n, 8}));
  EXPECT_THROW(getrs(Op::NoTrans, A, own_pivots, B), ArgumentError);
  EXPECT_THROW(gesv(A, short_b), ShapeError);
  EXPECT_EQ(info.wait(), 0);
}

}  // namespace

}  // namespace tessera::test::lu_cpp
