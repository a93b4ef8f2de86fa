// SPDX-License-Identifier: BSD-3-Clause
// gemm on Matrix<T>: any tiles, any views, as inputs and as outputs. On integers, so that results are exact.
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>

#include "support/runtime.hpp"
#include "support/tiled.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime();

/// Cuts of m, n and k that have nothing in common: rectangular tiles.
constexpr Index mb = 5, nb = 7, kb = 4;
constexpr std::array<Index, 4> many_m{1, mb, mb + 1, 3 * mb + 2}, many_n{1, nb, nb + 1, 2 * nb + 3},
    many_k{1, kb, kb + 1, 3 * kb + 1};
constexpr Index m = 3 * mb + 2, n = 2 * nb + 3, k = 3 * kb + 1;

TileSize tile_of(Op op, Index rows, Index columns) {
  return op == Op::NoTrans ? TileSize{rows, columns} : TileSize{columns, rows};
}

template <Scalar T>
class GemmMatrices : public ::testing::Test {};
TYPED_TEST_SUITE(GemmMatrices, ScalarTypes);

TYPED_TEST(GemmMatrices, TakesRectangularTilesOfAnyShape) {
  using T = TypeParam;
  for (const Op op_a : all_ops)
    for (const Op op_b : all_ops)
      for (const Index rows : many_m)
        for (const Index columns : many_n)
          for (const Index terms : many_k) {
            const auto A = integer_operand<T>(1, op_a, rows, terms, 1), B = integer_operand<T>(2, op_b, terms, columns);
            auto C = integer_matrix<T>(3, rows, columns, 2), expected = C;
            {
              const auto tiles = tiled(C, {mb, nb});
              gemm<T>(op_a, op_b, T(2), tiled(A, tile_of(op_a, mb, kb)), tiled(B, tile_of(op_b, kb, nb)), T(-1), tiles);
              tiles.wait();
            }
            const Product<T> p{op_a, op_b, T(2), A, B, T(-1)};
            host_product(p, expected);
            ASSERT_TRUE(C.equals(expected)) << p;
          }
}

TYPED_TEST(GemmMatrices, TakesTransposedViewsAsInputs) {
  using T = TypeParam;
  for (const Op view_a : all_ops)
    for (const Op view_b : all_ops) {
      const auto A = integer_operand<T>(1, view_a, m, k), B = integer_operand<T>(2, view_b, k, n);
      auto C = integer_matrix<T>(3, m, n), expected = C;
      gemm<T>(Op::NoTrans, Op::NoTrans, T(1), seen_through(view_a, tiled(A, tile_of(view_a, mb, kb))),
              seen_through(view_b, tiled(B, tile_of(view_b, kb, nb))), T(1), tiled(C, {mb, nb}));
      host_product<T>({view_a, view_b, T(1), A, B, T(1)}, expected);
      ASSERT_TRUE(C.equals(expected)) << static_cast<char>(view_a) << static_cast<char>(view_b);
    }
}

/// All that can be asked of the BLAS: an op of a view of each input, into a view of the output. What would need a
/// conjugate without a transpose is refused, and everything else is right.
TYPED_TEST(GemmMatrices, TakesTransposedViewsAsOutputsOrRefuses) {
  using T = TypeParam;
  const T alpha = factors<T>().back() * T(4), beta = is_complex<T> ? factors<T>()[4] : T(3);  // integers
  const auto conjugated_only = [](Op op_c, Op view, Op op) {
    const auto conjugates = [](Op x) { return x == Op::ConjTrans ? 1 : 0; };
    const auto transposes = [](Op x) { return x == Op::NoTrans ? 0 : 1; };
    const int c = conjugates(op_c) + conjugates(view) + conjugates(op);
    const int t = transposes(op_c) + transposes(view) + transposes(op);
    return is_complex<T> && c % 2 == 1 && t % 2 == 0;
  };
  int refused = 0;
  for (const Op op_c : all_ops)
    for (const Op view_a : all_ops)
      for (const Op view_b : all_ops)
        for (const Op op_a : all_ops)
          for (const Op op_b : all_ops) {
            // stored so that op(view(A)) is m×k, op(view(B)) k×n, and view(C) m×n
            const auto turned = [](Op view, Op op) {
              return (view == Op::NoTrans) != (op == Op::NoTrans) ? Op::Trans : Op::NoTrans;
            };
            const Op a = turned(view_a, op_a), b = turned(view_b, op_b);
            const auto A = integer_operand<T>(1, a, m, k), B = integer_operand<T>(2, b, k, n);
            auto C = integer_operand<T>(3, op_c, m, n);
            const auto before = C;
            const auto submit = [&] {
              gemm<T>(op_a, op_b, alpha, seen_through(view_a, tiled(A, tile_of(a, mb, kb))),
                      seen_through(view_b, tiled(B, tile_of(b, kb, nb))), beta,
                      seen_through(op_c, tiled(C, tile_of(op_c, mb, nb))));
            };
            if (conjugated_only(op_c, view_a, op_a) || conjugated_only(op_c, view_b, op_b)) {
              refused++;
              ASSERT_THROW(submit(), ArgumentError);
              ASSERT_TRUE(C == before);
              continue;
            }
            submit();
            const auto shown_a = part(A, view_a), shown_b = part(B, view_b);
            auto result = part(before, op_c), expected = before;
            host_product<T>({op_a, op_b, alpha, shown_a, shown_b, beta}, result);
            put(expected, 0, 0, op_c, result);
            ASSERT_TRUE(C.equals(expected))
                << static_cast<char>(op_c) << static_cast<char>(view_a) << static_cast<char>(view_b)
                << static_cast<char>(op_a) << static_cast<char>(op_b);
          }
  EXPECT_EQ(refused > 0, is_complex<T>);
}

TYPED_TEST(GemmMatrices, TakesRangesOfTilesAsInputsAndOutputs) {
  using T = TypeParam;
  constexpr Index b = 6, whole = 4 * b + 3;  // five tiles, the last one of three
  const auto A = integer_matrix<T>(1, whole, whole, 1), B = integer_matrix<T>(2, whole, whole);
  for (const Index first : {0, 2})
    for (const Index last : {3, 5})
      for (const Op op : all_ops) {
        const auto extent = [&](Index begin, Index end) { return std::min(end * b, whole) - begin * b; };
        const Index size = extent(first, last), terms = extent(1, 5);
        auto C = integer_matrix<T>(3, whole, whole, 2);
        auto expected = C;
        const auto a = tiled(A, {b, b}), c = tiled(C, {b, b});
        const auto left = op == Op::NoTrans ? a.view(first, last, 1, 5) : a.view(1, 5, first, last);
        gemm<T>(op, Op::NoTrans, T(1), left, tiled(B, {b, b}).view(1, 5, 1, 4), T(2), c.view(first, last, 0, 3));
        c.wait();

        const auto A_part = op == Op::NoTrans ? part(A, first * b, b, size, terms) : part(A, b, first * b, terms, size),
                   B_part = part(B, b, b, terms, 3 * b);
        auto C_part = part(expected, first * b, 0, size, 3 * b);
        host_product<T>({op, Op::NoTrans, T(1), A_part, B_part, T(2)}, C_part);
        put(expected, first * b, 0, Op::NoTrans, C_part);
        ASSERT_TRUE(C.equals(expected)) << "tiles " << first << " to " << last << ", op " << static_cast<char>(op);
      }
}

TYPED_TEST(GemmMatrices, TakesAViewOfATransposeOfAView) {
  using T = TypeParam;
  constexpr Index b = 4;
  const auto A = integer_matrix<T>(1, 5 * b + 1, 6 * b + 2), B = integer_matrix<T>(2, 2 * b, 3 * b);
  HostMatrix<T> C(3 * b, 3 * b);
  {
    const auto odd = tiled(A, {b, b}).view(1, 5, 2, 6).transposed().view(1, 4, 0, 2);  // rows 4…12, columns 12…24 of A
    EXPECT_EQ(odd.m(), 3 * b);
    EXPECT_EQ(odd.n(), 2 * b);
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), odd, tiled(B, {b, b}), T(0), tiled(C, {b, b}));
  }
  const auto A_part = part(A, b, 3 * b, 2 * b, 3 * b);
  HostMatrix<T> expected(3 * b, 3 * b);
  host_product<T>({Op::Trans, Op::NoTrans, T(1), A_part, B, T(0)}, expected);
  EXPECT_TRUE(C.equals(expected));
}

TYPED_TEST(GemmMatrices, TileLargerThanTheMatrixIsOneTile) {
  using T = TypeParam;
  const auto A = integer_matrix<T>(1, m, k), B = integer_matrix<T>(2, k, n);
  auto C = integer_matrix<T>(3, m, n), expected = C;
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tiled(A, {100, 200}), tiled(B, {k, 300}), T(1), tiled(C, {m, n}));
  host_product<T>({Op::NoTrans, Op::NoTrans, T(1), A, B, T(1)}, expected);
  EXPECT_TRUE(C.equals(expected));
}

TYPED_TEST(GemmMatrices, ChoosesTilesThatFitTogether) {
  using T = TypeParam;
  const auto A = integer_matrix<T>(1, 700, 530), B = integer_matrix<T>(2, 530, 600);
  auto C = integer_matrix<T>(3, 700, 600), expected = C;
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tiled(A, {}), tiled(B, {}), T(1), tiled(C, {}));
  host_product<T>({Op::NoTrans, Op::NoTrans, T(1), A, B, T(1)}, expected);
  EXPECT_TRUE(C.equals(expected));
}

TYPED_TEST(GemmMatrices, EmptyDimensionsDoWhatBlasSays) {
  using T = TypeParam;
  HostMatrix<T> none_m(0, k), none_k_left(m, 0), none_k_right(0, n), none_n(k, 0), no_rows(0, n), no_columns(m, 0);
  const auto A = integer_matrix<T>(1, m, k), B = integer_matrix<T>(2, k, n);
  auto C = integer_matrix<T>(3, m, n), expected = C;
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < m; i++) expected(i, j) *= T(3);
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tiled(none_m, {mb, kb}), tiled(B, {kb, nb}), T(0), tiled(no_rows, {mb, nb}));
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tiled(A, {mb, kb}), tiled(none_n, {kb, nb}), T(0),
          tiled(no_columns, {mb, nb}));
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tiled(none_k_left, {mb, kb}), tiled(none_k_right, {kb, nb}), T(3),
          tiled(C, {mb, nb}));
  EXPECT_TRUE(C.equals(expected));
}

TYPED_TEST(GemmMatrices, BetaZeroDoesNotReadTheOutput) {
  using T = TypeParam;
  const auto A = integer_matrix<T>(1, m, k), B = integer_matrix<T>(2, k, n);
  HostMatrix<T> C(m, n, 1), expected(m, n, 1);  // NaN
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tiled(A, {mb, kb}), tiled(B, {kb, nb}), T(0), tiled(C, {mb, nb}));
  host_product<T>({Op::NoTrans, Op::NoTrans, T(1), A, B, T(0)}, expected);
  EXPECT_TRUE(C.equals(expected));
}

TYPED_TEST(GemmMatrices, AlphaZeroDoesNotReadTheInputs) {
  using T = TypeParam;
  const HostMatrix<T> A(m, k), B(k, n);  // NaN
  auto C = integer_matrix<T>(3, n, m), expected = C;
  const T beta = is_complex<T> ? factors<T>()[4] : T(-2);
  gemm<T>(Op::NoTrans, Op::NoTrans, T(0), tiled(A, {mb, kb}), tiled(B, {kb, nb}), beta,
          tiled(C, {nb, mb}).conjugate_transposed());
  auto seen = part(expected, Op::ConjTrans);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < m; i++) seen(i, j) *= beta;
  put(expected, 0, 0, Op::ConjTrans, seen);
  EXPECT_TRUE(C.equals(expected));
}

}  // namespace
}  // namespace tessera::test
