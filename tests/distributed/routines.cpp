// SPDX-License-Identifier: BSD-3-Clause
// Each routine compared with the same routine in a single process, on ragged sizes and views.
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>

#include "whole.hpp"

namespace tessera::test::routines_cpp {

namespace {

constexpr Index m = 45, n = 38, k = 31, tile = 8;
constexpr TileSize square{tile, tile};

template <typename T>
class DistributedRoutines : public testing::Test {
 protected:
  const Grid grid_ = grid();
  /// A complex number for complex types.
  static T number(double re, double im) {
    if constexpr (is_complex<T>) return T(static_cast<Real<T>>(re), static_cast<Real<T>>(im));
    else return static_cast<T>(re);
  }
  const T alpha_ = number(0.7, -0.3), beta_ = number(-0.4, 0.2);
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DistributedRoutines, Types);

constexpr Op ops[] = {Op::NoTrans, Op::Trans, Op::ConjTrans};
constexpr Uplo uplos[] = {Uplo::Lower, Uplo::Upper};
constexpr Side sides[] = {Side::Left, Side::Right};

TYPED_TEST(DistributedRoutines, Gemm) {
  using T = TypeParam;
  for (const Op op_a : ops)
    for (const Op op_b : ops) {
      const bool ta = op_a != Op::NoTrans, tb = op_b != Op::NoTrans;
      const Whole<T> a(ta ? k : m, ta ? m : k, 1), b(tb ? n : k, tb ? k : n, 2);
      Whole<T> c(m, n, 3);
      const auto A = distributed(this->grid_, a, ta ? TileSize{5, tile} : TileSize{tile, 5}),
                 B = distributed(this->grid_, b, tb ? TileSize{9, 5} : TileSize{5, 9}),
                 C = distributed(this->grid_, c, {tile, 9});
      gemm(op_a, op_b, this->alpha_, A, B, this->beta_, C);
      gemm(op_a, op_b, this->alpha_, A, B, T(1), C);  // tiles are sent again, and the first result is read
      for (const T beta : {this->beta_, T(1)})
        gemm(op_a, op_b, m, n, k, this->alpha_, a.data.data(), a.ld(), b.data.data(), b.ld(), beta, c.data.data(),
             c.ld());
      expect_near(C, c, 2 * k);
    }
}

TYPED_TEST(DistributedRoutines, GemmOverwritesNaN) {
  using T = TypeParam;
  const Whole<T> a(m, k, 1), b(k, n, 2);
  Whole<T> c(m, n, 3);
  for (auto& x : c.data) x = std::numeric_limits<Real<T>>::quiet_NaN();
  const auto A = distributed(this->grid_, a, square), B = distributed(this->grid_, b, square),
             C = distributed(this->grid_, c, square);
  gemm(Op::NoTrans, Op::NoTrans, this->alpha_, A, B, T{}, C);
  gemm(Op::NoTrans, Op::NoTrans, m, n, k, this->alpha_, a.data.data(), a.ld(), b.data.data(), b.ld(), T{},
       c.data.data(), c.ld());
  expect_near(C, c, k);
}

TYPED_TEST(DistributedRoutines, GemmOnViews) {  // tiles [1, 4) x [2, 5), whose owners are those in the whole matrix
  using T = TypeParam;
  const Whole<T> a(48, 48, 1), b(48, 48, 2);
  Whole<T> c(48, 48, 3);
  const auto A = distributed(this->grid_, a, square), B = distributed(this->grid_, b, square),
             C = distributed(this->grid_, c, square);
  gemm(Op::NoTrans, Op::NoTrans, this->alpha_, A.view(0, 3, 1, 5), B.transposed().view(2, 6, 0, 3), this->beta_,
       C.view(1, 4, 2, 5));
  gemm(Op::NoTrans, Op::Trans, 24, 24, 32, this->alpha_, &a(0, 8), 48, &b(0, 16), 48, this->beta_, &c(8, 16), 48);
  expect_near(C, c, 32);
  // The result through a transpose, and as an input of the next call.
  gemm(Op::NoTrans, Op::NoTrans, this->alpha_, C, A, this->beta_, B.transposed());
  Whole<T> d = b;
  gemm(Op::Trans, Op::Trans, 48, 48, 48, this->alpha_, a.data.data(), 48, c.data.data(), 48, this->beta_, d.data.data(),
       48);
  expect_near(B, d, 48 * 32, 2);
}

TYPED_TEST(DistributedRoutines, SymmetricProducts) {
  using T = TypeParam;
  for (const Side side : sides)
    for (const Uplo uplo : uplos) {
      const Index order = side == Side::Left ? m : n;
      const Whole<T> a(order, order, 1), b(m, n, 2);
      Whole<T> c(m, n, 3);
      const auto A = distributed(this->grid_, a, square), B = distributed(this->grid_, b, square),
                 C = distributed(this->grid_, c, square);
      symm(side, uplo, this->alpha_, A, B, this->beta_, C);
      symm(side, uplo, m, n, this->alpha_, a.data.data(), a.ld(), b.data.data(), b.ld(), this->beta_, c.data.data(),
           c.ld());
      if constexpr (is_complex<T>) {
        hemm(side, uplo, this->alpha_, A, B, this->beta_, C);
        hemm(side, uplo, m, n, this->alpha_, a.data.data(), a.ld(), b.data.data(), b.ld(), this->beta_, c.data.data(),
             c.ld());
      }
      expect_near(C, c, 2 * order, 2);
    }
}

TYPED_TEST(DistributedRoutines, RankUpdates) {
  using T = TypeParam;
  for (const Uplo uplo : uplos)
    for (const Op op : {Op::NoTrans, Op::Trans}) {
      const bool trans = op == Op::Trans;
      const Whole<T> a(trans ? k : n, trans ? n : k, 1), b(a.m, a.n, 2);
      Whole<T> c(n, n, 3);
      const auto A = distributed(this->grid_, a, square), B = distributed(this->grid_, b, square),
                 C = distributed(this->grid_, c, square);
      syrk(uplo, op, this->alpha_, A, this->beta_, C);
      syr2k(uplo, op, this->alpha_, A, B, this->beta_, C);
      gemmt(uplo, op, trans ? Op::NoTrans : Op::Trans, this->alpha_, A, B, this->beta_, C);
      const auto *x = a.data.data(), *y = b.data.data();
      syrk(uplo, op, n, k, this->alpha_, x, a.ld(), this->beta_, c.data.data(), n);
      syr2k(uplo, op, n, k, this->alpha_, x, a.ld(), y, b.ld(), this->beta_, c.data.data(), n);
      gemmt(uplo, op, trans ? Op::NoTrans : Op::Trans, n, k, this->alpha_, x, a.ld(), y, b.ld(), this->beta_,
            c.data.data(), n);
      if constexpr (is_complex<T>) {
        const Op adjoint = trans ? Op::ConjTrans : Op::NoTrans;
        herk(uplo, adjoint, Real<T>(0.5), A, Real<T>(0.3), C);
        her2k(uplo, adjoint, this->alpha_, A, B, Real<T>(0.3), C);
        herk(uplo, adjoint, n, k, Real<T>(0.5), x, a.ld(), Real<T>(0.3), c.data.data(), n);
        her2k(uplo, adjoint, n, k, this->alpha_, x, a.ld(), y, b.ld(), Real<T>(0.3), c.data.data(), n);
      }
      expect_near(C, c, 4 * k, 2);
    }
}

TYPED_TEST(DistributedRoutines, Triangular) {
  using T = TypeParam;
  for (const Side side : sides)
    for (const Uplo uplo : uplos)
      for (const Op op : ops) {
        const Index order = side == Side::Left ? m : n;
        const auto a = Whole<T>(order, order, 1).dominant();
        Whole<T> b(m, n, 2);
        const auto A = distributed(this->grid_, a, square), B = distributed(this->grid_, b, square);
        trmm(side, uplo, op, Diag::NonUnit, this->alpha_, A, B);
        trmm(side, uplo, op, Diag::NonUnit, m, n, this->alpha_, a.data.data(), order, b.data.data(), m);
        expect_near(B, b, order, static_cast<double>(order));
        trsm(side, uplo, op, Diag::NonUnit, this->alpha_, A, B);
        trsm(side, uplo, op, Diag::NonUnit, m, n, this->alpha_, a.data.data(), order, b.data.data(), m);
        expect_near(B, b, 4 * order);
        const Controlled held_back(this->grid_, {.holds_back = true});
        trsm(side, uplo, op, Diag::NonUnit, this->alpha_, A, B);
        trsm(side, uplo, op, Diag::NonUnit, m, n, this->alpha_, a.data.data(), order, b.data.data(), m);
        expect_near(B, b, 8 * order);
      }
}

TEST(DistributedSolveMemory, HoldsFewRowsAndColumnsOfOtherProcesses) {
  const int processes = grid_rows * grid_columns;
  if (processes == 1) GTEST_SKIP() << "there are no other processes";
  // Small, since a memory may have room for 1 MiB. A process holds tiles for five steps.
  constexpr Index order = 256, width = 8, columns = 64, held = 5;
  const auto a = Whole<double>(order, order, 1).dominant();
  for (const auto& g : {grid(), Grid(processes, 1)})
    for (const Uplo uplo : uplos) {
      SCOPED_TRACE(testing::Message() << g.p() << "x" << g.q() << " processes, " << static_cast<char>(uplo));
      const Controlled held_back(g, {.holds_back = true});
      Whole<double> b(order, columns, 2);
      const auto A = distributed(g, a, {width, width}), B = distributed(g, b, {width, width});
      g.wait();
      const auto before = in_use();
      trsm(Side::Left, uplo, Op::NoTrans, Diag::NonUnit, 1., A, B);
      const auto most = most_in_use();
      // Of each step: p columns of the process's rows of A, and p rows of its columns of X.
      const Index of_a = g.q() > 1 ? width * order : 0, of_x = g.p() > 1 ? width * g.p() * columns / g.q() : 0;
      EXPECT_LE(most - before, held * (of_a + of_x) * Index{sizeof(double)});
      trsm(Side::Left, uplo, Op::NoTrans, Diag::NonUnit, order, columns, 1., a.data.data(), order, b.data.data(),
           order);
      expect_near(B, b, order);
    }
}

TYPED_TEST(DistributedRoutines, Cholesky) {
  using T = TypeParam;
  for (const Uplo uplo : uplos) {
    auto a = Whole<T>(n, n, 1).dominant();
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < j; i++) {
        if constexpr (is_complex<T>) a(i, j) = std::conj(a(j, i));
        else a(i, j) = a(j, i);
      }
    Whole<T> b(n, 17, 2);
    const auto A = distributed(this->grid_, a, square), B = distributed(this->grid_, b, square);
    const Info info = potrf(uplo, A);
    potrs(uplo, A, B);
    EXPECT_EQ(potrf(uplo, n, a.data.data(), n), 0);
    potrs(uplo, n, 17, a.data.data(), n, b.data.data(), n);
    expect_near(A, a, n, 8);
    expect_near(B, b, n);
    EXPECT_EQ(info.wait(), 0);
  }
}

TYPED_TEST(DistributedRoutines, CholeskyTellsAllProcessesOfAMinor) {
  using T = TypeParam;
  auto a = Whole<T>(n, n, 1).dominant();
  a(20, 20) = T(-1);  // the tile (2, 2), which one process owns
  const auto A = distributed(this->grid_, a, square);
  const Info info = potrf(Uplo::Lower, A);
  EXPECT_EQ(info.wait(), 21);
  EXPECT_EQ(info.wait(), 21);
  A.wait();
}

TYPED_TEST(DistributedRoutines, LuWithoutPivoting) {
  using T = TypeParam;
  auto a = Whole<T>(n, n, 1).dominant();
  for (const Op op : ops) {
    Whole<T> b(n, 17, 2);
    auto factors = a;
    const auto A = distributed(this->grid_, a, square), B = distributed(this->grid_, b, square);
    const Info info = getrf_nopiv(A);
    getrs_nopiv(op, A, B);
    EXPECT_EQ(getrf_nopiv(n, n, factors.data.data(), n), 0);
    getrs_nopiv(op, n, 17, factors.data.data(), n, b.data.data(), n);
    expect_near(A, factors, n, static_cast<double>(n));
    expect_near(B, b, n);
    EXPECT_EQ(info.wait(), 0);
  }
}

TYPED_TEST(DistributedRoutines, ScalapackMemory) {  // another first process, and padding
  using T = TypeParam;
  const Grid& g = this->grid_;
  const Whole<T> a(m, m, 1), b(m, n, 2);
  Whole<T> c(m, n, 3);
  const int lld = 60, desc[9] = {1, 0, int{m}, int{n}, 8, 8, g.p() - 1, g.q() - 1, lld};
  const T untouched = T(-7);
  std::vector<T> memory(static_cast<std::size_t>(lld * n), untouched);
  const auto A = distributed(g, a, square), B = distributed(g, b, square);
  {
    const DistributedMatrix<T> C(g, memory.data(), desc);
    scatter(c, C);
    gemm(Op::NoTrans, Op::NoTrans, this->alpha_, A, B, this->beta_, C);
    gemm(Op::NoTrans, Op::NoTrans, m, n, m, this->alpha_, a.data.data(), m, b.data.data(), m, this->beta_,
         c.data.data(), m);
    expect_near(C, c, m);
    for (Index j = 0; j < C.local_n(); j++)
      for (Index i = C.local_m(); i < lld; i++) ASSERT_EQ(memory[static_cast<std::size_t>(i + j * lld)], untouched);
  }
}

TEST(DistributedMatrices, BelongToTheirOwners) {
  const auto g = grid();
  const DistributedMatrix<double> A(g, 30, 20, {8, 8});
  EXPECT_EQ(A.mt(), 4);
  EXPECT_EQ(A.nt(), 3);
  Index elements = 0;
  for (Index j = 0; j < A.nt(); j++)
    for (Index i = 0; i < A.mt(); i++) {
      EXPECT_EQ(A.owner(i, j), i % g.p() * g.q() + j % g.q());
      if (A.is_mine(i, j)) elements += A.tiles().tile_m(i) * A.tiles().tile_n(j);
    }
  EXPECT_EQ(elements, A.local_m() * A.local_n());
  EXPECT_EQ(A.transposed().owner(1, 0), A.owner(0, 1));
}

TEST(DistributedMatrices, RefuseWhatIsNotSupported) {
  const auto g = grid();
  double x = 0;
  const auto with = [&](int place, int value) {
    int desc[9] = {1, 0, 1, 1, 8, 8, 0, 0, 1};
    desc[place] = value;
    return [=, &g, &x] { DistributedMatrix<double>(g, &x, desc); };
  };
  for (const auto& [place, value] : {std::pair{0, 2}, {2, -1}, {4, 0}, {6, 7}, {7, -1}})
    EXPECT_THROW(with(place, value)(), ArgumentError) << place;
  EXPECT_THROW(DistributedMatrix<double>(g, -1, 1, {8, 8}), ArgumentError);
  EXPECT_THROW(DistributedMatrix<double>(g, 1, 1, {0, 8}), ArgumentError);
  EXPECT_THROW(Grid(grid_rows + 1, grid_columns), ArgumentError);
  EXPECT_THROW(Grid(0, grid_columns), ArgumentError);
  const DistributedMatrix<double> A(g, 30, 20, {8, 8});
  EXPECT_THROW(gemm(Op::NoTrans, Op::NoTrans, 1., A, A, 0., A), ShapeError);
  EXPECT_THROW(gemm(Op::NoTrans, Op::Trans, 1., A, A, 0., A.view(0, 4, 0, 2)), ShapeError);
}

TEST(DistributedMatrices, SendEachTileOnceToEachProcess) {
  const auto g = grid();
  const Index tiles = 6, order = tiles * tile;
  const DistributedMatrix<double> A(g, order, order, square), B(g, order, order, square), C(g, order, order, square);
  for (const auto* x : {&A, &B, &C}) std::fill_n(x->local(), x->local_m() * x->local_n(), 1.0);
  g.wait();
  const auto total = [&] {
    std::uint64_t sum = 0;
    for (const auto bytes : g.bytes_sent()) sum += bytes;
    return sum;
  };
  const auto before = total();
  gemm(Op::NoTrans, Op::NoTrans, 1., A, B, 0., C);
  g.wait();
  // Each of the tiles of A goes to the other q − 1 processes of its row, those of B to p − 1 of its column.
  std::uint64_t mine = 0;
  for (Index j = 0; j < tiles; j++)
    for (Index i = 0; i < tiles; i++) mine += A.is_mine(i, j) ? 1 : 0;
  const auto others = static_cast<std::uint64_t>(g.p() + g.q() - 2);
  EXPECT_EQ(total() - before, mine * others * tile * tile * sizeof(double));
}

}  // namespace

}  // namespace tessera::test::routines_cpp
