// SPDX-License-Identifier: BSD-3-Clause
// Matrix<T> and gemm on it refuse what does not fit together, and touch nothing.
#include <tessera/blas3.hpp>

#include "support/refused.hpp"
#include "support/tiled.hpp"

namespace tessera::test {
namespace {

using D = double;

constexpr Index beyond_int = Index{1} << 31, huge = Index{1} << 62;
constexpr TileSize tile{4, 4};

class BadMatrix : public ::testing::Test {
 protected:
  static void refused(D* data, Index m, Index n, Index ld, TileSize size, int position, const char* name,
                      const char* problem) {
    expect_refused<ArgumentError>([&] { Matrix<D>(data, m, n, ld, size); }, "Matrix", position, name, problem);
    expect_refused<ArgumentError>([&] { Matrix<D>(static_cast<const D*>(data), m, n, ld, size); }, "Matrix", position,
                                  name, problem);
  }
  D data_[16] = {};
};

TEST_F(BadMatrix, HasANegativeSize) {
  refused(data_, -1, 4, 4, tile, 2, "m", "-1");
  refused(data_, 4, -2, 4, tile, 3, "n", "-2");
}

TEST_F(BadMatrix, HasABadLeadingDimension) {
  refused(data_, 4, 4, 3, tile, 4, "ld", "is 3, must be at least 4");
  refused(nullptr, 0, 4, 0, tile, 4, "ld", "is 0, must be at least 1");
  refused(data_, 4, 4, beyond_int, tile, 4, "ld", "is 2147483648, must be at most 2147483647");
}

TEST_F(BadMatrix, HasNoMemory) { refused(nullptr, 4, 4, 4, tile, 1, "data", "null"); }

TEST_F(BadMatrix, HasMoreBytesThanAnAddressSpace) {
  refused(data_, 4, huge, 4, tile, 1, "data", "4611686018427387904 columns");
}

TEST_F(BadMatrix, HasABadTile) {
  refused(data_, 4, 4, 4, {-1, 4}, 5, "tile.rows", "-1");
  refused(data_, 4, 4, 4, {4, -3}, 5, "tile.columns", "-3");
  refused(data_, 4, 4, 4, {4, beyond_int}, 5, "tile.columns", "2147483648");
}

TEST_F(BadMatrix, IsNotAnEmptyOne) {
  for (const auto& [m, n] : {std::pair<Index, Index>{0, 0}, {0, 5}, {5, 0}, {0, std::numeric_limits<Index>::max()}}) {
    const Matrix<D> empty(static_cast<D*>(nullptr), m, n, std::max<Index>(1, m), tile);
    EXPECT_EQ(empty.m(), m);
    EXPECT_EQ(empty.n(), n);
    EXPECT_EQ(empty.mt() * empty.nt(), 0);
    EXPECT_NO_THROW(empty.wait());
  }
}

TEST(BadView, IsOutOfRange) {
  HostMatrix<D> A(10, 18);  // 3×5 tiles
  const auto a = tiled(A, tile);
  struct Range {
    Index i0, i1, j0, j1;
    int position;
    const char* name;
  };
  for (const auto& r : {Range{-1, 2, 0, 5, 1, "i0"},
                        {2, 1, 0, 5, 1, "i0"},
                        {0, 4, 0, 5, 1, "i0"},
                        {4, 4, 0, 5, 1, "i0"},
                        {0, 3, -1, 5, 3, "j0"},
                        {0, 3, 3, 2, 3, "j0"},
                        {0, 3, 0, 6, 3, "j0"}}) {
    expect_refused<ArgumentError>([&] { (void)a.view(r.i0, r.i1, r.j0, r.j1); }, "Matrix::view", r.position, r.name,
                                  "must lie within");
    const int mirrored = 4 - r.position;
    expect_refused<ArgumentError>([&] { (void)a.transposed().view(r.j0, r.j1, r.i0, r.i1); }, "Matrix::view", mirrored,
                                  mirrored == 1 ? "i0" : "j0", "must lie within");
  }
  EXPECT_NO_THROW((void)a.view(3, 3, 5, 5));  // empty, at the end
  EXPECT_NO_THROW((void)a.view(0, 3, 0, 5));
}

TEST(BadView, HasNoSuchTile) {
  HostMatrix<D> A(10, 18);
  const auto a = tiled(A, tile);
  expect_refused<ArgumentError>([&] { (void)a.handle(3, 0); }, "Matrix::handle", 1, "i", "(3, 0) of 3x5");
  expect_refused<ArgumentError>([&] { (void)a.handle(-1, 0); }, "Matrix::handle", 1, "i", "(-1, 0)");
  expect_refused<ArgumentError>([&] { (void)a.handle(0, 5); }, "Matrix::handle", 2, "j", "(0, 5)");
  EXPECT_EQ(a.transposed().handle(4, 2), a.handle(2, 4));
}

TEST(BadView, WouldBeConjugatedWithoutBeingTransposed) {
  HostMatrix<std::complex<float>> A(10, 18);
  const auto a = tiled(A, tile);
  expect_refused<ArgumentError>([&] { (void)a.transposed().conjugate_transposed(); }, "Matrix::conjugate_transposed", 1,
                                "*this", "conjugate");
  expect_refused<ArgumentError>([&] { (void)a.conjugate_transposed().transposed(); }, "Matrix::transposed", 1, "*this",
                                "conjugate");
  EXPECT_EQ(a.conjugate_transposed().conjugate_transposed().op(), Op::NoTrans);
}

/// C (10×18) ← A (10×14) B (14×18) is legal, in tiles of 4×4.
class BadGemm : public ::testing::Test {
 protected:
  void refused(const Matrix<D>& A, const Matrix<D>& B, const Matrix<D>& C, int position, const char* name,
               const char* problem, Op op_a = Op::NoTrans, Op op_b = Op::NoTrans) {
    const auto A_before = A_, B_before = B_, C_before = C_;
    expect_refused<ShapeError>([&] { gemm<D>(op_a, op_b, 1, A, B, 1, C); }, "gemm", position, name, problem);
    wait();
    EXPECT_TRUE(A_ == A_before && B_ == B_before && C_ == C_before) << "touched an operand";
  }
  HostMatrix<D> A_ = random_matrix<D>(1, 10, 14), B_ = random_matrix<D>(2, 14, 18), C_ = random_matrix<D>(3, 10, 18);
  Matrix<D> a_ = tiled(A_, tile), b_ = tiled(B_, tile), c_ = tiled(C_, tile);
};

TEST_F(BadGemm, HasMatricesThatAreNotConformable) {
  refused(a_, a_, c_, 5, "B", "10 rows, must have as many as the columns of op(A), 14");
  refused(a_, b_, b_, 7, "C", "14 rows, must have as many as the rows of op(A), 10");
  refused(a_, b_, a_, 7, "C", "14 columns, must have as many as the columns of op(B), 18");
  refused(a_, b_, c_, 5, "B", "14 rows, must have as many as the columns of op(A), 10", Op::Trans);
  refused(a_, b_, c_, 5, "B", "18 rows, must have as many as the columns of op(A), 14", Op::NoTrans, Op::Trans);
  refused(a_, b_, c_.transposed(), 7, "C", "18 rows");
  refused(a_.view(0, 2, 0, 4), b_, c_, 7, "C", "10 rows, must have as many as the rows of op(A), 8");
}

TEST_F(BadGemm, HasTilesThatDoNotFit) {
  refused(tiled(A_, {4, 5}), b_, c_, 5, "B", "tiles of 4");
  refused(a_, tiled(B_, {3, 4}), c_, 5, "B", "tiles of 3");
  refused(tiled(A_, {5, 4}), b_, c_, 7, "C", "must be cut like rows of op(A), into tiles of 5");
  refused(a_, tiled(B_, {4, 6}), c_, 7, "C", "must be cut like columns of op(B), into tiles of 6");
  refused(a_, b_, tiled(C_, {8, 4}), 7, "C", "tiles of 8");
}

TEST_F(BadGemm, HasAnOutputThatIsAnInput) {
  HostMatrix<D> S = random_matrix<D>(4, 18, 18);
  const auto before = S;
  const auto s = tiled(S, tile);
  const char* shares = "shares memory with the input";
  refused(s, s, s, 7, "C", shares);
  refused(s.view(0, 2, 0, 2), s.view(0, 2, 2, 4), s.view(1, 3, 1, 3), 7, "C", shares);  // with A
  refused(s.view(0, 2, 0, 2), s.view(0, 2, 2, 4), s.view(1, 3, 3, 5).view(0, 2, 0, 1), 7, "C", "columns");
  refused(s.view(2, 4, 2, 4), s.view(0, 2, 2, 4), s.view(0, 2, 2, 4).transposed(), 7, "C", shares);  // with B
  EXPECT_TRUE(S == before);
}

TEST_F(BadGemm, HasAnOutputOverTheMemoryOfAnInput) {
  HostMatrix<D> S = random_matrix<D>(4, 20, 20);
  const auto before = S;
  const Matrix<D> left(S.data(), 8, 8, S.ld(), tile), corner(&S(7, 7), 8, 8, S.ld(), tile),
      apart(&S(8, 8), 8, 8, S.ld(), tile);
  HostMatrix<D> R = random_matrix<D>(5, 8, 8);
  const auto other = tiled(R, tile);
  refused(left, other, corner, 7, "C", "shares memory with the input A");
  refused(other, left, corner, 7, "C", "shares memory with the input B");
  EXPECT_TRUE(S == before);
  EXPECT_NO_THROW(gemm<D>(Op::NoTrans, Op::NoTrans, 1, left, other, 1, apart));
}

TEST_F(BadGemm, IsNotOneOnRowBlocksOfOneArray) {
  HostMatrix<D> S = integer_matrix<D>(4, 16, 8);
  auto expected = S;
  {
    const Matrix<D> upper(S.data(), 8, 8, S.ld(), tile), lower(&S(8, 0), 8, 8, S.ld(), tile);  // columns interleave
    gemm<D>(Op::NoTrans, Op::NoTrans, 1, upper, upper, 1, lower);
    lower.wait();
  }
  const auto upper = part(expected, 0, 0, 8, 8);
  auto lower = part(expected, 8, 0, 8, 8);
  host_product<D>({Op::NoTrans, Op::NoTrans, 1, upper, upper, 1}, lower);
  put(expected, 8, 0, Op::NoTrans, lower);
  EXPECT_TRUE(S.equals(expected));
}

TEST_F(BadGemm, HasAReadOnlyOutput) {
  const auto before = C_;
  const auto read_only = tiled(std::as_const(C_), tile);
  EXPECT_TRUE(read_only.read_only());
  EXPECT_FALSE(c_.read_only());
  for (const D alpha : {0.0, 1.0})
    expect_refused<ArgumentError>([&] { gemm<D>(Op::NoTrans, Op::NoTrans, alpha, a_, b_, 0, read_only); }, "gemm", 7,
                                  "C", "read-only");
  EXPECT_TRUE(C_ == before);
}

TEST_F(BadGemm, HasSomethingThatIsNotAnOp) {
  expect_refused<ArgumentError>([&] { gemm<D>(static_cast<Op>('x'), Op::NoTrans, 1, a_, b_, 1, c_); }, "gemm", 1,
                                "op_a", "must be");
  expect_refused<ArgumentError>([&] { gemm<D>(Op::NoTrans, static_cast<Op>('x'), 1, a_, b_, 1, c_); }, "gemm", 2,
                                "op_b", "must be");
}

TEST_F(BadGemm, WouldConjugateWithoutTransposing) {
  using Z = std::complex<double>;
  const auto A = random_matrix<Z>(1, 8, 8), B = random_matrix<Z>(2, 8, 8);
  auto C = random_matrix<Z>(3, 8, 8);
  const auto before = C;
  const auto a = tiled(A, tile), b = tiled(B, tile), c = tiled(C, tile);
  const char* problem = "conjugated without being transposed";
  expect_refused<ArgumentError>([&] { gemm<Z>(Op::ConjTrans, Op::NoTrans, 1, a.transposed(), b, 1, c); }, "gemm", 4,
                                "A", problem);
  expect_refused<ArgumentError>([&] { gemm<Z>(Op::NoTrans, Op::Trans, 1, a, b.conjugate_transposed(), 1, c); }, "gemm",
                                5, "B", problem);
  expect_refused<ArgumentError>([&] { gemm<Z>(Op::Trans, Op::ConjTrans, 1, a, b, 1, c.conjugate_transposed()); },
                                "gemm", 4, "A", problem);
  expect_refused<ArgumentError>([&] { gemm<Z>(Op::NoTrans, Op::ConjTrans, 1, a, b, 1, c.transposed()); }, "gemm", 5,
                                "B", problem);
  wait();
  EXPECT_TRUE(C == before);
}

}  // namespace
}  // namespace tessera::test
