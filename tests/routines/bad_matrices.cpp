// SPDX-License-Identifier: BSD-3-Clause
// Matrix<T> and its views refuse illegal arguments.
#include <array>

#include "support/refused.hpp"
#include "support/tiled.hpp"

namespace tessera::test::bad_matrices_cpp {
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
                        {0, 4, 0, 5, 2, "i1"},
                        {4, 4, 0, 5, 1, "i0"},
                        {0, 3, -1, 5, 3, "j0"},
                        {0, 3, 3, 2, 3, "j0"},
                        {0, 3, 0, 6, 4, "j1"}}) {
    expect_refused<ArgumentError>([&] { (void)a.view(r.i0, r.i1, r.j0, r.j1); }, "Matrix::view", r.position, r.name,
                                  "must lie within");
    const int position = r.position <= 2 ? r.position + 2 : r.position - 2;
    constexpr std::array names = {"i0", "i1", "j0", "j1"};
    expect_refused<ArgumentError>([&] { (void)a.transposed().view(r.j0, r.j1, r.i0, r.i1); }, "Matrix::view", position,
                                  names[static_cast<std::size_t>(position - 1)], "must lie within");
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

}  // namespace
}  // namespace tessera::test::bad_matrices_cpp
