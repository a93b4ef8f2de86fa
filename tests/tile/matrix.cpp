// SPDX-License-Identifier: BSD-3-Clause
// Matrix<T> on the caller's memory: sizes, tiles and handles of matrices and views, and their lifetime.
#include <tessera/matrix.hpp>

#include <starpu.h>

#include <gmock/gmock.h>

#include <array>
#include <optional>

#include <tessera/tessera.h>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

#include "common/failure.hpp"
#include "support/tiled.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::test::matrix_cpp {
namespace {

constexpr Index mb = 5, nb = 3, m = 3 * mb + 2, n = 4 * nb + 1;  // 4×5 tiles, ragged in both directions

/// Traces name matrices by letters. Two results of a program are never both "C".
TEST(MatrixLetters, DifferWhileMatricesExist) {
  const Runtime runtime;
  const HostMatrix<double> a(4, 4), b(4, 4);
  HostMatrix<double> c(4, 4), d(4, 4), e(4, 4);
  const auto letter = [](const Matrix<double>& X) { return detail::MatrixAccess::grid(X).letter(); };
  const auto A = tiled(a, {4, 4}), B = tiled(b, {4, 4}), C = tiled(c, {4, 4});
  {
    const auto D = tiled(d, {4, 4});
    gemm(Op::NoTrans, Op::NoTrans, 1.0, A, B, 0.0, C);
    gemm(Op::NoTrans, Op::Trans, 1.0, C, A, 0.0, D);
    D.wait();
    EXPECT_EQ((std::array{letter(A), letter(B), letter(C), letter(D)}), (std::array{'A', 'B', 'C', 'D'}));
  }
  const auto E = tiled(e, {4, 4});
  gemm(Op::NoTrans, Op::NoTrans, 1.0, A, B, 0.0, E);
  E.wait();
  EXPECT_EQ(letter(E), 'D');  // no other matrix has this letter any more
}

template <Scalar T>
class MatrixTiles : public ::testing::Test {};
TYPED_TEST_SUITE(MatrixTiles, ScalarTypes);

/// Expects that the tiles of `view` cover rows [i0, …) and columns [j0, …) of A, or the transpose, each in its place.
template <Scalar T>
void expect_tiles(const Matrix<T>& view, const HostMatrix<T>& A, Index i0, Index j0, Op op) {
  Index i = 0;
  for (Index row = 0; row < view.mt(); row++) {
    Index j = 0;
    for (Index column = 0; column < view.nt(); column++) {
      const auto handle = view.handle(row, column);
      const bool plain = op == Op::NoTrans;
      EXPECT_EQ(starpu_matrix_get_nx(handle), plain ? view.tile_m(row) : view.tile_n(column));
      EXPECT_EQ(starpu_matrix_get_ny(handle), plain ? view.tile_n(column) : view.tile_m(row));
      EXPECT_EQ(starpu_matrix_get_elemsize(handle), sizeof(T));
      EXPECT_EQ(starpu_matrix_get_local_ld(handle), A.ld());
      EXPECT_EQ(starpu_matrix_get_local_ptr(handle),
                reinterpret_cast<uintptr_t>(plain ? &A(i0 + i, j0 + j) : &A(i0 + j, j0 + i)));
      j += view.tile_n(column);
    }
    EXPECT_EQ(j, view.n());
    i += view.tile_m(row);
  }
  EXPECT_EQ(i, view.m());
}

TYPED_TEST(MatrixTiles, CoverTheMatrix) {
  HostMatrix<TypeParam> A(m, n, 2);
  const auto a = tiled(A, {mb, nb});
  EXPECT_EQ(a.m(), m);
  EXPECT_EQ(a.n(), n);
  EXPECT_EQ(a.mt(), 4);
  EXPECT_EQ(a.nt(), 5);
  EXPECT_EQ(a.mb(), mb);
  EXPECT_EQ(a.nb(), nb);
  EXPECT_EQ(a.tile_m(3), 2);
  EXPECT_EQ(a.tile_n(4), 1);
  expect_tiles(a, A, 0, 0, Op::NoTrans);
}

TYPED_TEST(MatrixTiles, CoverItsTranspose) {
  HostMatrix<TypeParam> A(m, n, 2);
  const auto a = tiled(A, {mb, nb}).conjugate_transposed();
  EXPECT_EQ(a.m(), n);
  EXPECT_EQ(a.n(), m);
  EXPECT_EQ(a.mt(), 5);
  EXPECT_EQ(a.nt(), 4);
  EXPECT_EQ(a.mb(), nb);
  EXPECT_EQ(a.nb(), mb);
  expect_tiles(a, A, 0, 0, Op::ConjTrans);
}

TYPED_TEST(MatrixTiles, CoverItsViews) {
  HostMatrix<TypeParam> A(m, n, 2);
  const auto a = tiled(A, {mb, nb});
  for (Index i0 = 0; i0 <= a.mt(); i0++)
    for (Index i1 = i0 + 1; i1 <= a.mt(); i1++)
      for (Index j0 = 0; j0 <= a.nt(); j0++)
        for (Index j1 = j0 + 1; j1 <= a.nt(); j1++) {
          const auto view = a.view(i0, i1, j0, j1);
          EXPECT_EQ(view.m(), std::min(i1 * mb, m) - i0 * mb);
          EXPECT_EQ(view.n(), std::min(j1 * nb, n) - j0 * nb);
          expect_tiles(view, A, i0 * mb, j0 * nb, Op::NoTrans);
          expect_tiles(view.transposed(), A, i0 * mb, j0 * nb, Op::Trans);
          expect_tiles(a.transposed().view(j0, j1, i0, i1), A, i0 * mb, j0 * nb, Op::Trans);
          expect_tiles(a.view(i0, a.mt(), j0, a.nt()).view(0, i1 - i0, 0, j1 - j0), A, i0 * mb, j0 * nb, Op::NoTrans);
        }
}

TYPED_TEST(MatrixTiles, OfAnEmptyViewAreNone) {
  HostMatrix<TypeParam> A(m, n);
  const auto view = tiled(A, {mb, nb}).view(4, 4, 5, 5);
  EXPECT_EQ(view.m(), 0);
  EXPECT_EQ(view.n(), 0);
  EXPECT_EQ(view.mt() * view.nt(), 0);
}

TYPED_TEST(MatrixTiles, LiveAsLongAsAView) {
  using T = TypeParam;
  auto C = integer_matrix<T>(1, m, n);
  const auto before = C;
  std::optional<Matrix<T>> view;
  {
    const auto c = tiled(C, {mb, nb});
    view = c.view(1, 2, 1, 2).transposed();
  }
  HostMatrix<T> none_left(nb, 0), none_right(0, mb);
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tiled(none_left, {nb, 1}), tiled(none_right, {1, mb}), T(2), *view);
  view.reset();  // waits
  auto expected = before;
  for (Index j = nb; j < 2 * nb; j++)
    for (Index i = mb; i < 2 * mb; i++) expected(i, j) *= T(2);
  EXPECT_TRUE(C.equals(expected));
}

TYPED_TEST(MatrixTiles, AreUnregisteredWithoutTouchingTheMemory) {
  auto C = random_matrix<TypeParam>(1, m, n, 2);
  const auto before = C;
  { const auto c = tiled(C, {mb, nb}); }
  { const auto c = tiled(std::as_const(C), {mb, nb}); }
  EXPECT_TRUE(C == before);
}

// A tile operation cannot throw. Instead, every matrix that exists at that time throws once, at its next wait.
TEST(Failure, IsThrownByTheNextWait) {
  const Runtime runtime;
  HostMatrix<double> A(m, n), B(m, n);
  const auto a = tiled(A, {mb, nb}), b = tiled(B, {mb, nb});
  common::report_failure("the tile fell off");
  common::report_failure("and another one");
  try {
    a.wait();
    ADD_FAILURE() << "no error";
  } catch (const RuntimeError& error) {
    EXPECT_STREQ(error.what(), "and another one");
  }
  EXPECT_NO_THROW(a.wait());
  EXPECT_THROW(b.wait(), RuntimeError) << "it could have been this one's";
  const auto later = tiled(A, {mb, nb});
  EXPECT_NO_THROW(later.wait());
  common::report_failure("again");
  EXPECT_THROW(wait(), RuntimeError);
  EXPECT_NO_THROW(wait());
}

TEST(Failure, IsAStatusInC) {
  const Runtime runtime;
  common::report_failure("the tile fell off");
  EXPECT_EQ(tessera_wait(), TESSERA_RUNTIME_FAILURE);
  EXPECT_THAT(tessera_last_error(), ::testing::HasSubstr("the tile fell off"));
  EXPECT_EQ(tessera_wait(), TESSERA_SUCCESS);
}

}  // namespace
}  // namespace tessera::test::matrix_cpp
