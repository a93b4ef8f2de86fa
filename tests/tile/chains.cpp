// SPDX-License-Identifier: BSD-3-Clause
// Several asynchronous products without a wait in between take effect on each tile in the order of the calls.
#include <starpu.h>

#include <tessera/blas3.hpp>
#include <tessera/runtime.hpp>

#include "support/runtime.hpp"
#include "support/tiled.hpp"

namespace tessera::test::chains_cpp {
namespace {

const auto* const runtime = share_runtime();

constexpr Index b = 6, size = 4 * b + 2;
constexpr TileSize tile{b, b};

template <Scalar T>
class Chains : public ::testing::Test {
 protected:
  HostMatrix<T> A_ = integer_matrix<T>(1, size, size, 1, 1), B_ = integer_matrix<T>(2, size, size, 0, 1),
                C_ = integer_matrix<T>(3, size, size, 2, 1), D_ = integer_matrix<T>(4, size, size, 0, 1);

  /// The product by the host BLAS, on whole matrices.
  static void host(Op op_a, Op op_b, T alpha, const HostMatrix<T>& X, const HostMatrix<T>& Y, T beta,
                   HostMatrix<T>& Z) {
    host_product<T>({op_a, op_b, alpha, X, Y, beta}, Z);
  }
};
TYPED_TEST_SUITE(Chains, ScalarTypes);

TYPED_TEST(Chains, EachProductReadsWhatTheLastOneWrote) {
  using T = TypeParam;
  auto C = this->C_, D = this->D_, A = this->A_;
  {
    const auto a = tiled(A, tile), bb = tiled(this->B_, tile), c = tiled(C, tile), d = tiled(D, tile);
    gemm<T>(Op::NoTrans, Op::Trans, T(1), a, bb, T(1), c);
    gemm<T>(Op::ConjTrans, Op::NoTrans, T(-1), c, bb, T(2), d);
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), d, bb, T(0), a);  // writes what the first product reads
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), bb, bb, T(-1), c);
    wait();
    for (const auto* matrix : {&a, &c, &d}) matrix->wait();
  }
  auto a = this->A_, c = this->C_, d = this->D_;
  this->host(Op::NoTrans, Op::Trans, T(1), a, this->B_, T(1), c);
  this->host(Op::ConjTrans, Op::NoTrans, T(-1), c, this->B_, T(2), d);
  this->host(Op::NoTrans, Op::NoTrans, T(1), d, this->B_, T(0), a);
  this->host(Op::NoTrans, Op::NoTrans, T(1), this->B_, this->B_, T(-1), c);
  EXPECT_TRUE(A.equals(a));
  EXPECT_TRUE(C.equals(c));
  EXPECT_TRUE(D.equals(d));
}

TYPED_TEST(Chains, AddUpInOneOutput) {
  using T = TypeParam;
  auto C = this->C_, expected = this->C_;
  {
    const auto a = tiled(this->A_, tile), bb = tiled(this->B_, tile), c = tiled(C, tile);
    for (int repeat = 0; repeat < 20; repeat++)
      gemm<T>(Op::NoTrans, repeat % 2 == 0 ? Op::NoTrans : Op::Trans, T(1), a, bb, T(1), c);
  }
  for (int repeat = 0; repeat < 20; repeat++)
    this->host(Op::NoTrans, repeat % 2 == 0 ? Op::NoTrans : Op::Trans, T(1), this->A_, this->B_, T(1), expected);
  EXPECT_TRUE(C.equals(expected));
}

TYPED_TEST(Chains, PartsOfOneMatrixFeedOtherParts) {
  using T = TypeParam;
  auto C = this->C_, expected = this->C_;
  {
    const auto c = tiled(C, tile);  // [P Q; R S] in blocks of 2×2 tiles: S ← S − R Q, the trailing update
    gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), c.view(2, 5, 0, 2), c.view(0, 2, 2, 5), T(1), c.view(2, 5, 2, 5));
  }
  constexpr Index h = 2 * b, rest = size - h;
  auto S = part(expected, h, h, rest, rest);
  const auto R = part(expected, h, 0, rest, h), Q = part(expected, 0, h, h, rest);
  this->host(Op::NoTrans, Op::NoTrans, T(-1), R, Q, T(1), S);
  put(expected, h, h, Op::NoTrans, S);
  EXPECT_TRUE(C.equals(expected));
}

TYPED_TEST(Chains, WaitDeliversOneResultWhileOthersContinue) {
  using T = TypeParam;
  auto C = this->C_, expected = this->C_, D = this->D_;
  const auto a = tiled(this->A_, tile), bb = tiled(this->B_, tile), c = tiled(C, tile), d = tiled(D, tile);
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), a, bb, T(1), c);
  for (int repeat = 0; repeat < 10; repeat++) gemm<T>(Op::NoTrans, Op::NoTrans, T(0.5), a, c, T(0.5), d);
  c.wait();  // d is still being computed
  this->host(Op::NoTrans, Op::NoTrans, T(1), this->A_, this->B_, T(1), expected);
  EXPECT_TRUE(C.equals(expected));
}

TYPED_TEST(Chains, ATransposedOutputFeedsTheNextProduct) {
  using T = TypeParam;
  auto C = this->C_, D = this->D_, c = this->C_, d = this->D_;
  {
    const auto a = tiled(this->A_, tile), bb = tiled(this->B_, tile), tc = tiled(C, tile);
    gemm<T>(Op::ConjTrans, Op::ConjTrans, T(1), a, bb, T(1), tc.conjugate_transposed());
    gemm<T>(Op::Trans, Op::NoTrans, T(1), tc, bb, T(1), tiled(D, tile));
  }
  auto shown = part(c, Op::ConjTrans);
  this->host(Op::ConjTrans, Op::ConjTrans, T(1), this->A_, this->B_, T(1), shown);
  put(c, 0, 0, Op::ConjTrans, shown);
  this->host(Op::Trans, Op::NoTrans, T(1), c, this->B_, T(1), d);
  EXPECT_TRUE(C.equals(c));
  EXPECT_TRUE(D.equals(d));
}

/// A user's operation: adds (1 + row) · (2 + column) to each element, with row and column counted within the tile.
template <Scalar T>
void add_pattern(void* buffers[], void* /*arg*/) {
  auto* data = reinterpret_cast<T*>(STARPU_MATRIX_GET_PTR(buffers[0]));
  const auto ld = static_cast<Index>(STARPU_MATRIX_GET_LD(buffers[0]));
  for (Index j = 0; j < static_cast<Index>(STARPU_MATRIX_GET_NY(buffers[0])); j++)
    for (Index i = 0; i < static_cast<Index>(STARPU_MATRIX_GET_NX(buffers[0])); i++)
      data[i + j * ld] += T(static_cast<Real<T>>((1 + i) * (2 + j)));
}

template <Scalar T>
starpu_codelet pattern_codelet() {
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = add_pattern<T>;
  codelet.nbuffers = 1;
  codelet.modes[0] = STARPU_RW;
  return codelet;
}

TYPED_TEST(Chains, TheUsersTaskRunsBetweenTwoProducts) {
  using T = TypeParam;
  if (starpu_cpu_worker_get_count() == 0) GTEST_SKIP() << "no CPU worker for the user's task";
  static auto codelet = pattern_codelet<T>();
  auto C = this->C_, D = this->D_, c = this->C_, d = this->D_;
  {
    const auto a = tiled(this->A_, tile), bb = tiled(this->B_, tile), tc = tiled(C, tile);
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), a, bb, T(1), tc);
    for (Index j = 0; j < tc.nt(); j++)
      for (Index i = 0; i < tc.mt(); i++) ASSERT_EQ(starpu_task_insert(&codelet, STARPU_RW, tc.handle(i, j), 0), 0);
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tc, bb, T(1), tiled(D, tile));
  }
  this->host(Op::NoTrans, Op::NoTrans, T(1), this->A_, this->B_, T(1), c);
  for (Index j = 0; j < size; j++)
    for (Index i = 0; i < size; i++) c(i, j) += T(static_cast<Real<T>>((1 + i % b) * (2 + j % b)));
  this->host(Op::NoTrans, Op::NoTrans, T(1), c, this->B_, T(1), d);
  EXPECT_TRUE(C.equals(c));
  EXPECT_TRUE(D.equals(d));
}

TYPED_TEST(Chains, TheHostReadsAndWritesATileThatItAcquires) {
  using T = TypeParam;
  auto C = this->C_, c = this->C_;
  {
    const auto a = tiled(this->A_, tile), bb = tiled(this->B_, tile), tc = tiled(C, tile);
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), a, bb, T(1), tc);
    ASSERT_EQ(starpu_data_acquire(tc.handle(1, 2), STARPU_RW), 0);
    C(b + 1, 2 * b + 3) = T(7);
    starpu_data_release(tc.handle(1, 2));
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), bb, a, T(1), tc);
  }
  this->host(Op::NoTrans, Op::NoTrans, T(1), this->A_, this->B_, T(1), c);
  c(b + 1, 2 * b + 3) = T(7);
  this->host(Op::NoTrans, Op::NoTrans, T(1), this->B_, this->A_, T(1), c);
  EXPECT_TRUE(C.equals(c));
}

}  // namespace
}  // namespace tessera::test::chains_cpp
