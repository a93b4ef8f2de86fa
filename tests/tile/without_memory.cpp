// SPDX-License-Identifier: BSD-3-Clause
// Matrices without memory: chains of routines on them, and what is refused because a tile has no value. In
// CMakeLists.txt, the same tests run with a second memory, and with devices whose small memories evict tiles.
#include <starpu.h>

#include <gmock/gmock.h>

#include <atomic>

#include <tessera/blas3.hpp>
#include <tessera/lapack.hpp>
#include <tessera/matrix.hpp>

#include "common/failure.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "support/error_of.hpp"
#include "support/failures_end.hpp"
#include "support/residuals.hpp"
#include "support/runtime.hpp"
#include "support/tiled.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::test::without_memory_cpp {
namespace {

using ::testing::HasSubstr;

constexpr Index b = 6, size = 3 * b + 2;
constexpr TileSize tile{b, b};

template <Scalar T>
class MatricesWithoutMemory : public ::testing::Test {
 protected:
  HostMatrix<T> A_ = integer_matrix<T>(1, size, size, 1, 1), B_ = integer_matrix<T>(2, size, size, 0, 1),
                C_ = integer_matrix<T>(3, size, size, 2, 1);

  static Matrix<T> without_memory() { return {size, size, tile}; }
  /// A matrix without memory with the values of A.
  static Matrix<T> filled(const HostMatrix<T>& A) {
    Matrix<T> X(A.m(), A.n(), tile);
    copy(tiled(A, tile), X);
    return X;
  }
  static HostMatrix<T> values(const Matrix<T>& X) {
    HostMatrix<T> A(X.m(), X.n(), 1);
    copy(X, tiled(A, {X.mb(), X.nb()}));
    return A;
  }
  static HostMatrix<T> product(Op op_a, Op op_b, const HostMatrix<T>& X, const HostMatrix<T>& Y) {
    HostMatrix<T> Z(size, size);
    host_product<T>({op_a, op_b, T(1), X, Y, T(0)}, Z);
    return Z;
  }
  /// A well-conditioned matrix: the Hermitian BᴴB + n I.
  HostMatrix<T> definite() const {
    auto X = product(Op::ConjTrans, Op::NoTrans, B_, B_);
    for (Index i = 0; i < size; i++) X(i, i) += T(size);
    return X;
  }
};
TYPED_TEST_SUITE(MatricesWithoutMemory, ScalarTypes);

TYPED_TEST(MatricesWithoutMemory, HaveSizesAndViews) {
  using T = TypeParam;
  const Matrix<T> X(2 * b + 1, 3 * b, {b, 2 * b});
  EXPECT_EQ(X.m(), 2 * b + 1);
  EXPECT_EQ(X.n(), 3 * b);
  EXPECT_EQ(X.mt(), 3);
  EXPECT_EQ(X.nt(), 2);
  EXPECT_EQ(X.tile_m(2), 1);
  EXPECT_FALSE(X.read_only());
  const auto corner = X.view(0, 1, 0, 1), column = X.view(0, 3, 0, 1), last = X.view(2, 3, 1, 2);
  EXPECT_TRUE(corner.overlaps(column.transposed()));
  EXPECT_FALSE(corner.overlaps(last));
  EXPECT_FALSE(X.view(1, 1, 0, 1).overlaps(X));
  EXPECT_FALSE(X.overlaps(Matrix<T>(b, b)));
  EXPECT_FALSE(X.overlaps(tiled(this->A_, tile)));
  EXPECT_GT(Matrix<T>(1000, 1000).mb(), 0);
  EXPECT_EQ(Matrix<T>(0, 5).mt(), 0);
}

TYPED_TEST(MatricesWithoutMemory, CarryResultsFromCallToCall) {
  using T = TypeParam;
  const auto AB = this->product(Op::NoTrans, Op::NoTrans, this->A_, this->B_);
  const auto expected = this->product(Op::ConjTrans, Op::NoTrans, AB, AB);
  HostMatrix<T> C(size, size, 3);
  {
    const auto c = tiled(C, tile);
    const auto X = this->without_memory();
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tiled(this->A_, tile), tiled(this->B_, tile), T(0), X);
    gemm<T>(Op::ConjTrans, Op::NoTrans, T(1), X, X, T(0), c);
    X.start_write_back();
    X.wait();
    c.wait();
    EXPECT_TRUE(C.equals(expected));
    EXPECT_TRUE(this->values(X).equals(AB));
    EXPECT_NE(detail::MatrixAccess::grid(X).letter(), '\0');  // names its tiles in traces
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tiled(this->A_, tile), tiled(this->B_, tile), T(1), X);  // adds to them
    EXPECT_TRUE(this->values(X.conjugate_transposed().conjugate_transposed())(0, 0) == T(2) * AB(0, 0));
  }
}

/// Bytes that devices have sent to the host since the last call. StarPU resets its counters when they are read.
std::size_t sent_home() {
  std::size_t bytes = 0;
  for (int bus = 0; bus < starpu_bus_get_count(); bus++) {
    starpu_profiling_bus_info info{};
    starpu_bus_get_profiling_info(bus, &info);
    if (starpu_bus_get_dst(bus) == STARPU_MAIN_RAM) bytes += info.transferred_bytes;
  }
  return bytes;
}

TYPED_TEST(MatricesWithoutMemory, StayOnTheDevice) {
  using T = TypeParam;
  if (runtime::session()->machine().gpu_count() != 1)
    GTEST_SKIP() << "several devices may share tiles through the host";
  const auto A = tiled(this->A_, tile), B = tiled(this->B_, tile);
  const auto X = this->without_memory(), Y = this->without_memory();
  sent_home();
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), A, B, T(0), X);
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), X, B, T(0), Y);
  trmm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, T(1), A, Y);
  for (const auto* matrix : {&X, &Y}) matrix->wait();
  EXPECT_EQ(sent_home(), 0u);
  this->values(Y);
  EXPECT_EQ(sent_home(), static_cast<std::size_t>(size * size) * sizeof(T));
}

TYPED_TEST(MatricesWithoutMemory, LiveAsLongAsTheirTasks) {
  using T = TypeParam;
  auto C = this->C_;
  const auto c = tiled(C, tile);
  for (int i = 0; i < 10; i++) {
    const auto X = this->filled(this->A_);
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), X, tiled(this->B_, tile), i == 0 ? T(0) : T(1), c);
  }
  c.wait();
  auto expected = this->product(Op::NoTrans, Op::NoTrans, this->A_, this->B_);
  for (Index j = 0; j < size; j++)
    for (Index i = 0; i < size; i++) expected(i, j) *= T(10);
  EXPECT_TRUE(C.equals(expected));
}

/// Matrices that do not fit into a memory of 1 MiB together.
TYPED_TEST(MatricesWithoutMemory, SurviveEviction) {
  using T = TypeParam;
  constexpr Index n = 384;
  constexpr TileSize large{96, 96};
  const auto A = integer_matrix<T>(1, n, n, 0, 1), B = integer_matrix<T>(2, n, n, 0, 1);
  HostMatrix<T> product(n, n), expected(n, n), C(n, n);
  const Matrix<T> X(n, n, large), Y(n, n, large);
  const auto right = tiled(B, large);
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tiled(A, large), right, T(0), X);
  gemm<T>(Op::NoTrans, Op::Trans, T(1), X, right, T(0), Y);
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), tiled(A, large), right, T(1), Y);
  copy(Y, tiled(C, large));
  host_product<T>({Op::NoTrans, Op::NoTrans, T(1), A, B, T(0)}, product);
  host_product<T>({Op::NoTrans, Op::Trans, T(1), product, B, T(0)}, expected);
  host_product<T>({Op::NoTrans, Op::NoTrans, T(1), A, B, T(1)}, expected);
  EXPECT_TRUE(C.equals(expected));
}

TYPED_TEST(MatricesWithoutMemory, ViewsAndTransposesAreOutputs) {
  using T = TypeParam;
  const auto X = this->without_memory();
  const auto A = tiled(this->A_, tile), B = tiled(this->B_, tile);
  // Column by column of tiles, the transpose of the product.
  for (Index j = 0; j < X.nt(); j++)
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), A.view(j, j + 1, 0, A.nt()), B, T(0),
            X.view(0, X.mt(), j, j + 1).transposed());
  const auto AB = this->product(Op::NoTrans, Op::NoTrans, this->A_, this->B_);
  EXPECT_TRUE(this->values(X).equals(part(AB, Op::Trans)));
}

/// With β = 0, the first write of a triangle must not read the rest of the tiles on the diagonal.
TYPED_TEST(MatricesWithoutMemory, MayHaveOneTriangleOnly) {
  using T = TypeParam;
  const auto A = tiled(this->A_, tile), B = tiled(this->B_, tile);
  for (const Uplo uplo : all_uplos) {
    const auto S = this->without_memory(), G = this->without_memory();
    syrk<T>(uplo, Op::NoTrans, T(1), A, T(0), S);
    syr2k<T>(uplo, Op::NoTrans, T(1), A, B, T(1), S);
    gemmt<T>(uplo, Op::NoTrans, Op::NoTrans, T(1), A, B, T(0), G);
    gemmt<T>(uplo, Op::NoTrans, Op::NoTrans, T(1), A, B, T(1), G);
    HostMatrix<T> C(size, size), expected(size, size);
    symm<T>(Side::Left, uplo, T(1), S, B, T(0), tiled(C, tile));
    auto full = this->product(Op::NoTrans, Op::Trans, this->A_, this->A_);
    host_product<T>({Op::NoTrans, Op::Trans, T(1), this->A_, this->B_, T(1)}, full);
    host_product<T>({Op::NoTrans, Op::Trans, T(1), this->B_, this->A_, T(1)}, full);
    host_product<T>({Op::NoTrans, Op::NoTrans, T(1), full, this->B_, T(0)}, expected);
    EXPECT_TRUE(C.equals(expected));
    EXPECT_THAT(error_of([&] { gemm<T>(Op::NoTrans, Op::NoTrans, T(1), G, A, T(0), tiled(C, tile)); }),
                HasSubstr("(A) is a matrix without memory, and its tile"));
    const auto triangle = this->product(Op::NoTrans, Op::NoTrans, this->A_, this->B_);
    const auto lower = uplo == Uplo::Lower ? G.view(1, 2, 0, 1) : G.view(0, 1, 1, 2);
    EXPECT_EQ(this->values(lower)(0, 0), T(2) * (uplo == Uplo::Lower ? triangle(b, 0) : triangle(0, b)));
  }
}

/// A program may ask for the handles first, and submit its own readers later.
TYPED_TEST(MatricesWithoutMemory, AreWrittenAfterTheirHandlesWereGiven) {
  using T = TypeParam;
  const auto A = tiled(this->A_, tile), B = tiled(this->B_, tile);
  const auto S = this->without_memory();
  for (Index i = 0; i < S.mt(); i++) EXPECT_NE(S.handle(i, i), nullptr);
  syrk<T>(Uplo::Lower, Op::NoTrans, T(1), A, T(0), S);
  HostMatrix<T> C(size, size), expected(size, size);
  symm<T>(Side::Left, Uplo::Lower, T(1), S, B, T(0), tiled(C, tile));
  host_product<T>(
      {Op::NoTrans, Op::NoTrans, T(1), this->product(Op::NoTrans, Op::Trans, this->A_, this->A_), this->B_, T(0)},
      expected);
  EXPECT_TRUE(C.equals(expected));
}

TYPED_TEST(MatricesWithoutMemory, AreFactorizedAndSolvedInPlace) {
  using T = TypeParam;
  const auto P = this->definite();
  const auto expect_solution = [&](const Matrix<T>& X) {  // the solution of P X = B
    const auto product = this->product(Op::NoTrans, Op::NoTrans, P, this->values(X));
    const auto bound = Real<T>(1e3) * size * std::numeric_limits<Real<T>>::epsilon();
    for (Index j = 0; j < size; j++)
      for (Index i = 0; i < size; i++) EXPECT_LE(std::abs(product(i, j) - this->B_(i, j)), bound);
  };
  for (const Uplo uplo : all_uplos) {
    const auto A = this->filled(P), X = this->filled(this->B_);
    const auto info = potrf(uplo, A);
    potrs(uplo, A, X);
    EXPECT_EQ(info.wait(), 0);
    expect_solution(X);
    const auto inverse = potri(uplo, A);
    EXPECT_EQ(inverse.wait(), 0);
    const auto Y = this->without_memory(), right = this->filled(this->B_);
    if constexpr (is_complex<T>) hemm<T>(Side::Left, uplo, T(1), A, right, T(0), Y);
    else symm<T>(Side::Left, uplo, T(1), A, right, T(0), Y);
    expect_solution(Y);
  }
  {
    const auto A = this->filled(P), X = this->filled(this->B_);
    const auto [pivots, info] = gesv(A, X);
    EXPECT_EQ(info.wait(), 0);
    expect_solution(X);
  }
  {
    const auto A = this->filled(P), X = this->filled(this->B_);
    Growth growth;
    EXPECT_EQ(gesv_nopiv(A, X, &growth).wait(), 0);
    expect_solution(X);
  }
  {
    const TileSize panels{size, b};
    const Matrix<T> A(size, size, panels), X(size, size, panels);
    copy(tiled(P, panels), A);
    copy(tiled(this->B_, panels), X);
    EXPECT_EQ(gels(Op::NoTrans, A, X).wait(), 0);
    expect_solution(X);
  }
}

TYPED_TEST(MatricesWithoutMemory, AreNotReadBeforeTheyAreWritten) {
  using T = TypeParam;
  const auto A = tiled(this->A_, tile), C = tiled(this->C_, tile);
  const auto before = this->C_;
  const Matrix<T> X(size, size, tile);
  const Matrix<T> panel(size, size, {size, b});
  const auto refuses = [](const char* start, auto call) {
    EXPECT_EQ(error_of(call), std::string(start) +
                                  " is a matrix without memory, and its tile (0, 0) is read before anything has "
                                  "written it");
  };
  constexpr auto none = Op::NoTrans;
  const auto U = Uplo::Upper;
  refuses("gemm: argument 4 (A)", [&] { gemm<T>(none, none, T(1), X, A, T(0), C); });
  refuses("gemm: argument 5 (B)", [&] { gemm<T>(none, none, T(1), A, X, T(0), C); });
  refuses("gemm: argument 7 (C)", [&] { gemm<T>(none, none, T(1), A, A, T(1), X); });
  refuses("gemm: argument 7 (C)", [&] { gemm<T>(none, none, T(0), A, A, T(2), X); });
  refuses("gemmt: argument 5 (A)", [&] { gemmt<T>(U, none, none, T(1), X, A, T(0), C); });
  refuses("symm: argument 4 (A)", [&] { symm<T>(Side::Left, U, T(1), X, A, T(0), C); });
  refuses("symm: argument 5 (B)", [&] { symm<T>(Side::Left, U, T(1), A, X, T(0), C); });
  refuses("symm: argument 7 (C)", [&] { symm<T>(Side::Left, U, T(1), A, A, T(1), X); });
  refuses("syrk: argument 4 (A)", [&] { syrk<T>(U, none, T(1), X, T(0), C); });
  refuses("syrk: argument 6 (C)", [&] { syrk<T>(U, none, T(1), A, T(1), X); });
  refuses("syr2k: argument 5 (B)", [&] { syr2k<T>(U, none, T(1), A, X, T(0), C); });
  refuses("trmm: argument 6 (A)", [&] { trmm<T>(Side::Left, U, none, Diag::Unit, T(1), X, C); });
  refuses("trsm: argument 7 (B)", [&] { trsm<T>(Side::Left, U, none, Diag::Unit, T(1), A, X); });
  refuses("potrf: argument 2 (A)", [&] { potrf(U, X); });
  refuses("potrs: argument 2 (A)", [&] { potrs(U, X, C); });
  refuses("posv: argument 3 (B)", [&] { posv(U, C, X); });
  refuses("getrf: argument 1 (A)", [&] { getrf(X); });
  refuses("gesv: argument 2 (B)", [&] { gesv(C, X); });
  refuses("getrf_nopiv: argument 1 (A)", [&] { getrf_nopiv(X); });
  refuses("getrs_nopiv: argument 3 (B)", [&] { getrs_nopiv(none, A, X); });
  refuses("gesv_nopiv: argument 1 (A)", [&] { gesv_nopiv(X, C); });
  refuses("trtri: argument 3 (A)", [&] { trtri(U, Diag::Unit, X); });
  refuses("lauum: argument 2 (A)", [&] { lauum(U, X); });
  refuses("potri: argument 2 (A)", [&] { potri(U, X); });
  refuses("geqrf: argument 1 (A)", [&] { geqrf(panel); });
  refuses("gels: argument 2 (A)", [&] { gels(none, panel, panel); });
  refuses("copy: argument 1 (A)", [&] { copy(X, C); });
  EXPECT_TRUE(this->C_ == before);

  // Where an operand is not read, it needs no value.
  gemm<T>(none, none, T(0), A, A, T(1), X);
  syrk<T>(U, none, T(0), A, T(1), X);
  gemm<T>(none, none, T(0), X, X, T(0), this->filled(this->A_));
  trsm<T>(Side::Left, U, none, Diag::Unit, T(0), A, X);
  EXPECT_EQ(this->values(X)(size - 1, 0), T(0));
}

TYPED_TEST(MatricesWithoutMemory, AreWrittenTileByTile) {
  const auto X = this->without_memory(), A = tiled(this->A_, tile);
  copy(A.view(0, 2, 0, 4), X.view(0, 2, 0, 4));
  EXPECT_THAT(error_of([&] { copy(X.transposed(), tiled(this->C_, tile).transposed()); }),
              HasSubstr("its tile (0, 2)"));
  copy(A.view(2, 4, 0, 4), X.view(2, 4, 0, 4));
  EXPECT_TRUE(this->values(X).equals(this->A_));
}

TYPED_TEST(MatricesWithoutMemory, TasksOfTheProgramMayWriteThem) {
  using T = TypeParam;
  static starpu_codelet ones = [] {
    starpu_codelet codelet{};
    codelet.cpu_funcs[0] = [](void* buffers[], void* /*argument*/) {
      const auto count = STARPU_MATRIX_GET_NX(buffers[0]) * STARPU_MATRIX_GET_NY(buffers[0]);
      std::fill_n(reinterpret_cast<T*>(STARPU_MATRIX_GET_PTR(buffers[0])), count, T(1));
    };
    codelet.nbuffers = 1;
    codelet.modes[0] = STARPU_W;
    return codelet;
  }();
  const Matrix<T> X(b, b, tile);
  ASSERT_EQ(starpu_task_insert(&ones, STARPU_W, X.handle(0, 0), 0), 0);
  trmm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, T(2), tiled(this->A_, tile).view(0, 1, 0, 1), X);
  EXPECT_EQ(this->values(X)(0, b - 1), T(2));
}

/// A codelet that overwrites a tile, and fails.
starpu_codelet& failing() {
  static starpu_codelet made = [] {
    starpu_codelet codelet{};
    codelet.cpu_funcs[0] = [](void* /*buffers*/[], void* /*argument*/) { common::report_failure("it failed"); };
    codelet.nbuffers = 1;
    codelet.modes[0] = STARPU_W;
    return codelet;
  }();
  return made;
}

TYPED_TEST(MatricesWithoutMemory, ReportFailures) {
  using T = TypeParam;
  const auto X = this->filled(this->A_);
  X.wait();
  ASSERT_EQ(starpu_task_insert(&failing(), STARPU_W, X.handle(0, 0), 0), 0);
  const auto Y = this->without_memory();
  gemm<T>(Op::NoTrans, Op::NoTrans, T(1), X, X, T(0), Y);
  EXPECT_EQ(error_of([&] { Y.wait(); }), "it failed");
  copy(tiled(this->A_, tile), X);
  copy(X, Y);
  EXPECT_TRUE(this->values(Y).equals(this->A_));
}

/// A result computed from a failed tile has failed, even if the matrix of the tile is destroyed before the call runs.
TYPED_TEST(MatricesWithoutMemory, ReportFailuresAfterTheirEnd) {
  using T = TypeParam;
  static std::atomic<bool> opened;
  static const auto codelet_of = [](starpu_cpu_func_t function) {
    starpu_codelet codelet{};
    codelet.cpu_funcs[0] = function;
    codelet.nbuffers = 1;
    codelet.modes[0] = STARPU_RW;
    return codelet;
  };
  static auto failing =
                  codelet_of([](void* /*buffers*/[], void* /*argument*/) { common::report_failure("it failed"); }),
              waiting =
                  codelet_of([](void* /*buffers*/[], void* /*argument*/) { opened.wait(false); });  // for this test
  opened = false;
  const auto c = tiled(this->C_, tile).view(0, 1, 0, 1), other = tiled(this->B_, tile).view(0, 1, 0, 1);
  {
    Matrix<T> X(c.m(), c.n(), tile);
    copy(other, X);
    ASSERT_EQ(starpu_task_insert(&failing, STARPU_RW, X.handle(0, 0), 0), 0);
    ASSERT_EQ(starpu_task_wait_for_all(), 0);
    ASSERT_EQ(starpu_task_insert(&waiting, STARPU_RW, c.handle(0, 0), 0), 0);
    gemm<T>(Op::NoTrans, Op::NoTrans, T(1), X, other, T(1), c);
  }
  opened = true;
  opened.notify_all();
  EXPECT_EQ(error_of([&] { c.wait(); }), "it failed");
}

/// Nobody waits for the failed tile.
TYPED_TEST(MatricesWithoutMemory, ForgetFailuresAtTheirEnd) {
  using T = TypeParam;
  {
    const Matrix<T> X(b, b, tile);
    ASSERT_EQ(starpu_task_insert(&failing(), STARPU_W, X.handle(0, 0), 0), 0);
  }
  ASSERT_EQ(starpu_task_wait_for_all(), 0);
  EXPECT_TRUE(failures_end());
}

TYPED_TEST(MatricesWithoutMemory, AreCopiedOnlyToEqualTiles) {
  using T = TypeParam;
  const auto X = this->filled(this->A_);
  EXPECT_THAT(error_of([&] { copy(X, X); }), HasSubstr("copy: argument 2 (B) shares memory with the input A"));
  EXPECT_THAT(error_of([&] { copy(X, Matrix<T>(size, size, {b, b + 1})); }), HasSubstr("cut into tiles"));
  EXPECT_THAT(error_of([&] { copy(X, X.view(0, 1, 0, 1)); }), HasSubstr("copy: argument 2 (B) has 6 rows"));
  EXPECT_THAT(error_of([&] { copy(X.transposed(), this->without_memory()); }), HasSubstr("the same transpose"));
  EXPECT_THAT(error_of([&] { copy(X, tiled(std::as_const(this->C_), tile)); }), HasSubstr("read-only"));
}

TYPED_TEST(MatricesWithoutMemory, RefuseBadSizes) {
  using T = TypeParam;
  EXPECT_THAT(error_of([] { Matrix<T>(-1, 2); }), HasSubstr("Matrix: argument 1 (m) is -1"));
  EXPECT_THAT(error_of([] { Matrix<T>(1, -2); }), HasSubstr("Matrix: argument 2 (n) is -2"));
  EXPECT_THAT(error_of([] { Matrix<T>(1, 2, {-1, 1}); }), HasSubstr("Matrix: argument 3 (tile.rows) is -1"));
}

}  // namespace
}  // namespace tessera::test::without_memory_cpp
