// SPDX-License-Identifier: BSD-3-Clause
// Kept matrices on two memory nodes: OpenCL devices or GPUs, whose traffic is counted, or NUMA nodes.
#include <starpu.h>
#include <tessera/tessera.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <tessera/tessera.hpp>

#include "plan/plans.hpp"
#include "routines/compute.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "support/error_of.hpp"
#include "support/matrices.hpp"
#include "support/process.hpp"
#include "support/runtime.hpp"
#include "tile/kept.hpp"

namespace tessera::test::kept_cpp {
namespace {

using ::testing::HasSubstr;

constexpr Index tile = 16, n = 4 * tile;
constexpr std::uint64_t bytes_of_tile = tile * tile * sizeof(double), bytes = n * n * sizeof(double);

std::optional<Runtime> runtime;
class Running : public ::testing::Environment {
  void SetUp() override { runtime.emplace(with_tile(tile)); }
  void TearDown() override { runtime.reset(); }
};
const auto* const running = ::testing::AddGlobalTestEnvironment(new Running);

/// C ← A B, by loops over integers.
template <Scalar T>
HostMatrix<T> product(const HostMatrix<T>& A, const HostMatrix<T>& B) {
  HostMatrix<T> C(A.m(), B.n());
  for (Index j = 0; j < B.n(); j++)
    for (Index i = 0; i < A.m(); i++) {
      T sum{};
      for (Index k = 0; k < A.n(); k++) sum += A(i, k) * B(k, j);
      C(i, j) = sum;
    }
  return C;
}

void multiply(const HostMatrix<double>& A, const HostMatrix<double>& B, HostMatrix<double>& C) {
  gemm<double>(Op::NoTrans, Op::NoTrans, n, n, n, 1, A.data(), A.ld(), B.data(), B.ld(), 0, C.data(), C.ld());
}

/// Operands of a product, kept until the end of the test.
struct Operands {
  HostMatrix<double> A = integer_matrix<double>(1, n, n, 3), B = integer_matrix<double>(2, n, n),
                     C = integer_matrix<double>(3, n, n, 5);

  explicit Operands(bool keeps = true) {
    if (!keeps) return;
    for (const auto* matrix : {&A, &B, &C}) keep(matrix->data(), n, n, matrix->ld());
  }
  ~Operands() {
    for (const auto* matrix : {&A, &B, &C}) try {
        forget(matrix->data());
      } catch (const ArgumentError&) {  // the test has forgotten it
      }
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  void multiply_right() {
    multiply(A, B, C);
    EXPECT_TRUE(C.equals(with_padding(product(A, B))));
    EXPECT_TRUE(A.sentinels_intact() && B.sentinels_intact());
  }
  static HostMatrix<double> with_padding(const HostMatrix<double>& plain) {
    HostMatrix<double> padded(n, n, 5);
    for (Index j = 0; j < n; j++) std::copy_n(&plain(0, j), n, &padded(0, j));
    return padded;
  }
};

/// What calls have copied to devices, and back. Only devices are counted, not NUMA nodes.
template <typename Calls>
Statistics traffic(Calls calls) {
  reset_statistics();
  calls();
  return statistics();
}
/// Whether it is known what calls copy: each device computes the same tiles in each call, cores none, and no sum comes
/// home before its last term has been submitted, as may happen if devices are faster than the calling thread.
bool counts() {
  const char* const options = std::getenv("TESSERA_SCHED");
  return gpu_count() > 0 && options != nullptr && std::string_view(options) == "-steal,-decline,-write-back";
}

TEST(Kept, SecondCallCopiesOnlyItsResult) {
  Operands with;
  const auto first = traffic([&] { with.multiply_right(); });
  tile::kept::reused_bytes = 0;
  const auto second = traffic([&] { with.multiply_right(); });
  if (!counts()) return;
  EXPECT_EQ(tile::kept::reused_bytes, 2 * bytes);
  EXPECT_GE(first.bytes_h2d, 2 * bytes);
  EXPECT_EQ(second.bytes_h2d + second.bytes_d2d, 0u);
  EXPECT_EQ(second.bytes_d2h, bytes);
}

TEST(Kept, WithoutItEachCallCopiesAll) {
  Operands with(false);
  for (int call = 0; call < 2; call++) {
    const auto moved = traffic([&] { with.multiply_right(); });
    if (counts()) {
      EXPECT_GE(moved.bytes_h2d, 2 * bytes);
    }
  }
}

TEST(Kept, ResultIsTheNextInput) {
  Operands with;
  with.multiply_right();
  const auto moved = traffic([&] { multiply(with.A, with.C, with.B); });
  EXPECT_TRUE(with.B.equals(product(with.A, with.C)));
  if (counts()) {  // each device has its tiles of C, and gets the others from the host
    EXPECT_LE(moved.bytes_h2d, bytes / 2 + bytes / 4);
  }
}

TEST(Kept, ChangedPartsAreCopiedAgain) {
  Operands with;
  with.multiply_right();
  const Index column = tile + 3;
  for (Index i = 0; i < n; i++) with.A(i, column) += 1;
  tile::kept::reused_bytes = 0;
  const auto moved = traffic([&] {
    changed(&with.A(0, column), n, 1, with.A.ld());
    with.multiply_right();
  });
  if (counts() && runtime::session()->machine().has_cuda()) {
    EXPECT_EQ(tile::kept::reused_bytes, 2 * bytes);
    EXPECT_GE(moved.bytes_h2d, n * sizeof(double)) << "the column";
    EXPECT_LE(moved.bytes_h2d, 2 * n * sizeof(double)) << "for each of two devices";
  } else if (counts()) {  // copies in OpenCL devices have no address
    EXPECT_EQ(tile::kept::reused_bytes, 2 * bytes - 4 * bytes_of_tile);
    EXPECT_GE(moved.bytes_h2d, 4 * bytes_of_tile);
    EXPECT_LE(moved.bytes_h2d, 8 * bytes_of_tile) << "four tiles for each of two devices";
  }
  with.B(n - 1, n - 1) -= 2;
  changed(with.B.data());
  const auto all = traffic([&] { with.multiply_right(); });
  if (counts()) {
    EXPECT_GE(all.bytes_h2d, bytes);
  }
}

/// Few bytes of a tile are brought to its copies; of other tiles, whole tiles are.
TEST(Kept, AnyPartsMayChange) {
  Operands with;
  Random random(1);
  for (int call = 0; call < 20; call++) {
    auto& matrix = random.coin() ? with.A : with.B;
    const Index i = random.integer(0, n - 1), j = random.integer(0, n - 1);
    const Index rows = random.integer(1, random.coin() ? n - i : std::min<Index>(n - i, 5)),
                columns = random.integer(1, random.coin() ? n - j : std::min<Index>(n - j, 3));
    for (Index column = j; column < j + columns; column++)
      for (Index row = i; row < i + rows; row++) matrix(row, column) = static_cast<double>(random.integer(-2, 2));
    changed(&matrix(i, j), rows, columns, matrix.ld());
    with.multiply_right();
  }
}

TEST(Kept, AnElementThatChangesIsInOneTile) {
  Operands with;
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {tile, tile - 1}, {n - 1, 2 * tile}, {n - 1, n - 1}}) {
    with.multiply_right();
    with.A(i, j) += 3, with.B(j, i) -= 1;
    changed(&with.A(i, j), 1, 1, 1), changed(&with.B(j, i), 1, 1, 1);
    with.multiply_right();
  }
}

TEST(Kept, PartsAndTransposesUseTheSameTiles) {
  Operands with;
  with.multiply_right();
  HostMatrix<double> C(n / 2, n);
  const auto moved = traffic([&] {
    gemm<double>(Op::Trans, Op::NoTrans, n / 2, n, n, 1, &with.A(0, n / 2), with.A.ld(), with.B.data(), with.B.ld(), 0,
                 C.data(), C.ld());
  });
  HostMatrix<double> At(n / 2, n);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n / 2; i++) At(i, j) = with.A(j, n / 2 + i);
  EXPECT_TRUE(C.equals(product(At, with.B)));
  if (counts()) {
    EXPECT_LE(moved.bytes_h2d, bytes) << "what other devices have had";
  }
}

TEST(Kept, ResultsOfOtherCallsReplaceTiles) {
  Operands with;
  with.multiply_right();
  {  // not at the edges of tiles
    SCOPED_TRACE("a part");
    const Index at = 5, m = 20;
    const auto X = integer_matrix<double>(7, m, m), Y = integer_matrix<double>(8, m, m);
    gemm<double>(Op::NoTrans, Op::NoTrans, m, m, m, 1, X.data(), m, Y.data(), m, 0, &with.A(at, at), with.A.ld());
    with.multiply_right();
  }
  {
    SCOPED_TRACE("a triangle");
    syrk<double>(Uplo::Lower, Op::NoTrans, n, n, 1, with.B.data(), with.B.ld(), 0, with.A.data(), with.A.ld());
    with.multiply_right();
  }
  {
    SCOPED_TRACE("a solver");
    Index info = 0;
    for (Index i = 0; i < n; i++)
      for (Index j = 0; j < n; j++) with.A(i, j) = i == j ? 4 : 0;
    changed(with.A.data());
    with.multiply_right();
    info = potrf<double>(Uplo::Lower, n, with.A.data(), with.A.ld());
    EXPECT_EQ(info, 0);
    EXPECT_EQ(with.A(0, 0), 2);
    with.multiply_right();
  }
  {
    SCOPED_TRACE("a matrix of tiles");
    {
      const Matrix<double> A(with.A.data(), n, n, with.A.ld()), B(with.B.data(), n, n, with.B.ld());
      gemm<double>(Op::NoTrans, Op::NoTrans, 1, B, B, 1, A);
    }
    with.multiply_right();
  }
}

/// Both triangles of the same memory, and all of it.
TEST(Kept, TrianglesHaveTilesOfTheirOwn) {
  Operands with;
  HostMatrix<double> lower(n, n), upper(n, n);
  for (int call = 0; call < 3; call++) {
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++)
        lower(i, j) = with.A(std::max(i, j), std::min(i, j)), upper(i, j) = with.A(std::min(i, j), std::max(i, j));
    for (const auto uplo : {Uplo::Lower, Uplo::Upper}) {
      symm<double>(Side::Left, uplo, n, n, 1, with.A.data(), with.A.ld(), with.B.data(), with.B.ld(), 0, with.C.data(),
                   with.C.ld());
      EXPECT_TRUE(with.C.equals(Operands::with_padding(product(uplo == Uplo::Lower ? lower : upper, with.B))));
    }
    with.multiply_right();
    with.A(n - 1, 0) += 1, with.A(tile, tile + 1) -= 1;
    changed(with.A.data(), n, n, with.A.ld());
  }
}

TEST(Kept, EndsWithForget) {
  Operands with;
  with.multiply_right();
  for (auto* matrix : {&with.A, &with.B}) {
    forget(matrix->data());
    (*matrix)(1, 1) += 1;
  }
  with.multiply_right();
  EXPECT_THAT(error_of([&] { forget(with.A.data()); }),
              HasSubstr("forget: argument 1 (A) is not the start of a kept matrix"));
  EXPECT_THAT(error_of([&] { changed(with.A.data()); }),
              HasSubstr("changed: argument 1 (A) is not the start of a kept matrix"));
}

TEST(Kept, IllegalArgumentsAreRefused) {
  Operands with;
  const auto error = [](const double* A, Index rows, Index columns, Index ld) {
    return error_of([&] { keep(A, rows, columns, ld); });
  };
  keep(with.A.data(), n, n, with.A.ld());  // is kept already
  EXPECT_THAT(error(with.A.data(), n, n - 1, with.A.ld()),
              HasSubstr("keep: argument 1 (A) shares memory with another"));
  EXPECT_THAT(error(&with.A(3, 3), 1, 1, 1), HasSubstr("keep: argument 1 (A) shares memory"));
  EXPECT_THAT(error(with.A.data(), -1, 2, 3), HasSubstr("keep: argument 2 (m) is -1"));
  EXPECT_THAT(error(with.A.data(), 1, -2, 3), HasSubstr("keep: argument 3 (n) is -2"));
  EXPECT_THAT(error(with.A.data(), 4, 2, 3), HasSubstr("keep: argument 4 (ld) is 3"));
  EXPECT_THAT(error(nullptr, 4, 2, 4), HasSubstr("keep: argument 1 (A) is null"));
  EXPECT_THAT(error_of([&] { changed(with.A.data(), 4, 2, 3); }), HasSubstr("changed: argument 4 (ld) is 3"));
  EXPECT_EQ(error(nullptr, 0, 2, 4), "");
}

TEST(Kept, AForkedChildIsRefused) {
  Operands with;
  with.multiply_right();
  const pid_t child = fork();
  if (child == 0) {
    const auto refused = [](const std::function<void()>& call) { return !error_of(call).empty(); };
    const auto* const A = with.A.data();
    const bool all = refused([&] { changed(A, 1, 1, 1); }) && refused([&] { changed(A); }) &&
                     refused([&] { forget(A); }) && refused([&] { keep(A, 1, 1, 1); });
    _exit(all ? 0 : 1);
  }
  EXPECT_EQ(wait_for(child), 0);
  with.multiply_right();
}

TEST(Kept, ThreadsMayShareInputs) {
  Operands with;
  const auto expected = product(with.A, with.B);
  std::vector<std::thread> threads;
  std::vector<HostMatrix<double>> results(4, HostMatrix<double>(n, n));
  for (auto& C : results)
    threads.emplace_back([&] {
      for (int call = 0; call < 5; call++) multiply(with.A, with.B, C);
    });
  for (auto& thread : threads) thread.join();
  for (const auto& C : results) EXPECT_TRUE(C.equals(expected));
}

/// Threads that write different parts of one matrix, at the edges of tiles and elsewhere, and read a third part.
TEST(Kept, ThreadsMayWriteDifferentParts) {
  Operands with;
  const auto B = integer_matrix<double>(5, n, n);
  const Index parts[][2] = {{0, tile}, {tile, tile + 7}, {tile + 7, 2 * tile}};
  for (int round = 0; round < 10; round++) {
    std::vector<std::thread> threads;
    for (const auto& [begin, end] : parts)
      threads.emplace_back([&, begin = begin, end = end] {
        gemm<double>(Op::NoTrans, Op::NoTrans, n, end - begin, n / 2, 1, &with.A(0, 2 * tile), with.A.ld(), B.data(),
                     B.ld(), round % 2, &with.A(0, begin), with.A.ld());
      });
    for (auto& thread : threads) thread.join();
    HostMatrix<double> right(n, n / 2), factor(n / 2, n / 2);
    for (Index j = 0; j < n / 2; j++) std::copy_n(&with.A(0, 2 * tile + j), n, &right(0, j));
    for (const auto& [begin, end] : parts)
      for (Index j = begin; j < end; j++) std::copy_n(&B(0, j - begin), n / 2, &factor(0, j));
    const auto sum = product(right, factor);
    for (Index j = 0; j < n / 2; j++)
      for (Index i = 0; i < n; i++) ASSERT_EQ(with.A(i, j), (1 + round % 2) * sum(i, j)) << i << ' ' << j;
    with.multiply_right();
  }
}

/// Where devices have little memory. Evicting a tile of this call, which is needed again, would copy it a second time.
TEST(Kept, TilesLeaveForOtherCalls) {
  constexpr Index large = 2 * n;
  const auto A = integer_matrix<double>(1, large, large), B = integer_matrix<double>(2, large, large);
  const auto expected = product(A, B);
  const auto moved = [&] {
    HostMatrix<double> C(large, large);
    const auto all = traffic([&] {
      gemm<double>(Op::NoTrans, Op::NoTrans, large, large, large, 1, A.data(), large, B.data(), large, 0, C.data(),
                   large);
    });
    EXPECT_TRUE(C.equals(expected));
    return all.bytes_h2d + all.bytes_d2d;
  };
  const auto before = moved();
  std::vector<std::unique_ptr<Operands>> filling;
  for (int i = 0; i < 30; i++) filling.emplace_back(std::make_unique<Operands>())->multiply_right();
  const auto with_them = moved();
  if (counts()) {
    EXPECT_EQ(with_them, before);
  }
  for (auto& operands : filling) operands->multiply_right();
}

TEST(Kept, InC) {
  HostMatrix<double> A = integer_matrix<double>(1, n, n, 3), B = integer_matrix<double>(2, n, n), C(n, n);
  const auto multiplies = [&] {
    multiply(A, B, C);
    EXPECT_TRUE(C.equals(product(A, B)));
  };
  ASSERT_EQ(tessera_keep('d', A.data(), n, n, A.ld()), TESSERA_SUCCESS);
  multiplies();
  A(1, 2) += 1;
  EXPECT_EQ(tessera_changed_part('d', &A(1, 2), 1, 1, 1), TESSERA_SUCCESS);
  multiplies();
  A(2, 1) += 1;
  EXPECT_EQ(tessera_changed(A.data()), TESSERA_SUCCESS);
  multiplies();
  EXPECT_EQ(tessera_keep('d', A.data(), n, 1, 3), -5);
  EXPECT_STREQ(tessera_last_error(), "tessera_keep: argument 5 (ld) is 3, must be at least 64");
  EXPECT_EQ(tessera_keep('x', A.data(), n, 1, n), -1);
  EXPECT_EQ(tessera_forget(A.data()), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_forget(A.data()), -1);
  EXPECT_THAT(tessera_last_error(), HasSubstr("tessera_forget: argument 1 (A) is not the start of a kept matrix"));
}

/// A program of random steps on two matrices, one of which is kept: calls in any tiles on any parts, and other writes,
/// with the same steps on copies.
template <Scalar T>
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed), session_(runtime::session()) {
    for (auto& matrix : matrices_) matrix = HostMatrix<T>(size, size, random_.integer(0, 3));
    for (auto& matrix : matrices_) random_.fill_integers(matrix, 1);
    copies_[0] = matrices_[0], copies_[1] = matrices_[1];
    keep(matrices_[0].data(), size, size, matrices_[0].ld());
  }
  ~RandomProgram() { forget(matrices_[0].data()); }
  RandomProgram(const RandomProgram&) = delete;
  RandomProgram& operator=(const RandomProgram&) = delete;

  void step() {
    const auto what = random_.integer(0, 9);
    if (what < 6) multiply();
    else if (what == 6) update();
    else if (what == 7) write_whole();
    else if (what == 8) write();
    else solve();
  }
  /// The first wrong element; "": all are right. Zeros may have any sign: if k is 1, a BLAS need not add −1 · 0 to 0.
  std::string wrong() const {
    for (std::size_t of = 0; of < 2; of++) {
      const auto &X = matrices_[of], &expected = copies_[of];
      for (Index j = 0; j < size; j++)
        for (Index i = 0; i < size; i++)
          if (X(i, j) != expected(i, j))
            return "element (" + std::to_string(i) + ", " + std::to_string(j) + ") of matrix " + std::to_string(of) +
                   " is " + std::to_string(X(i, j)) + ", must be " + std::to_string(expected(i, j));
      if (!X.sentinels_intact()) return "matrix " + std::to_string(of) + " has been written outside of its elements";
    }
    return {};
  }

 private:
  static constexpr Index size = 40;

  struct Part {
    int of;
    Index i, j;
  };
  T* in(std::array<HostMatrix<T>, 2>& all, const Part& x) { return &all[static_cast<std::size_t>(x.of)](x.i, x.j); }
  Index ld(int of) const { return matrices_[static_cast<std::size_t>(of)].ld(); }

  Index begin(Index extent) {  // mostly at the edge of a tile
    const Index most = size - extent;
    return random_.integer(0, 3) == 0 ? random_.integer(0, most) : random_.integer(0, most / 8) * 8;
  }
  Part part(Index rows, Index columns) { return {static_cast<int>(random_.coin()), begin(rows), begin(columns)}; }
  Index extent() { return random_.integer(0, 3) == 0 ? random_.integer(1, size) : 8 * random_.integer(1, size / 8); }
  Index extent_of_tile() { return random_.integer(0, 5) == 0 ? 16 : 8; }
  static bool overlap(const Part& x, Index m, Index width, const Part& y, Index rows, Index columns) {
    return x.of == y.of && x.i < y.i + rows && y.i < x.i + m && x.j < y.j + columns && y.j < x.j + width;
  }
  algorithms::Plan plan(Index rows, Index columns, Index k) {
    const tile::TileExtents tiles{extent_of_tile(), extent_of_tile(), extent_of_tile()};
    const Index count = tile::divide_up(rows, tiles.m) * tile::divide_up(columns, tiles.n);
    auto plan = plan::plan_sums(session_->machine(), type_letter<T>, tiles, count, k);
    plan.tile = tiles;
    return plan;
  }

  /// C ← op(A) op(B) + β C, small enough to stay exact.
  void multiply() {
    const Index m = extent(), columns = extent(), k = extent();
    const Op ops[] = {Op::NoTrans, Op::Trans};
    const Op op_a = random_.one_of(ops), op_b = random_.one_of(ops);
    const bool ta = op_a == Op::Trans, tb = op_b == Op::Trans;
    const auto a = part(ta ? k : m, ta ? m : k), b = part(tb ? columns : k, tb ? k : columns), c = part(m, columns);
    if (overlap(c, m, columns, a, ta ? k : m, ta ? m : k) ||
        overlap(c, m, columns, b, tb ? columns : k, tb ? k : columns))
      return;
    const T alpha(1), beta(static_cast<Real<T>>(random_.integer(0, 1)));
    const auto call = [&](auto& all) {
      return blas::Call{.routine = blas::Routine::gemm,
                        .type = type_letter<T>,
                        .op_a = op_a,
                        .op_b = op_b,
                        .m = m,
                        .n = columns,
                        .k = k,
                        .alpha = &alpha,
                        .A = in(all, a),
                        .lda = ld(a.of),
                        .B = in(all, b),
                        .ldb = ld(b.of),
                        .beta = &beta,
                        .C = in(all, c),
                        .ldc = ld(c.of)};
    };
    {
      const tile::kept::InCall in_call(session_, blas::matrices(call(matrices_)), beta != T{});
      routines::compute_product<T>(session_, plan(m, columns, k), call(matrices_));
    }
    const auto x = call(copies_);
    const auto at = [](const void* data, Index lda, bool transposed, Index i, Index j) {
      return static_cast<const T*>(data)[transposed ? j + i * lda : i + j * lda];
    };
    auto* const result = static_cast<T*>(x.C);
    for (Index j = 0; j < columns; j++)
      for (Index i = 0; i < m; i++) {
        T sum{};
        for (Index l = 0; l < k; l++) sum += at(x.A, x.lda, ta, i, l) * at(x.B, x.ldb, tb, l, j);
        auto& element = result[i + j * x.ldc];
        element = sum + (beta == T{} ? T{} : element);
      }
    keep_small(c, m, columns);
  }

  /// A triangle of C ← A Aᵀ.
  void update() {
    const Index order = extent(), k = extent();
    const auto a = part(order, k), c = part(order, order);
    if (overlap(c, order, order, a, order, k)) return;
    const auto uplo = random_.coin() ? Uplo::Lower : Uplo::Upper;
    syrk<T>(uplo, Op::NoTrans, order, k, T(1), in(matrices_, a), ld(a.of), T(0), in(matrices_, c), ld(c.of));
    const T* const A = in(copies_, a);
    for (Index j = 0; j < order; j++)
      for (Index i = 0; i < order; i++) {
        if (uplo == Uplo::Lower ? i < j : i > j) continue;
        T sum{};
        for (Index l = 0; l < k; l++) sum += A[i + l * ld(a.of)] * A[j + l * ld(a.of)];
        in(copies_, c)[i + j * ld(c.of)] = sum;
      }
    keep_small(c, order, order);
  }

  /// Exchanges two rows.
  void solve() {
    const Index columns = extent(), rows = random_.integer(2, size), ipiv[] = {random_.integer(1, rows)};
    const auto x = part(rows, columns);
    laswp<T>(columns, in(matrices_, x), ld(x.of), 1, 1, ipiv, 1);
    for (Index j = 0; j < columns; j++)
      std::swap(in(copies_, x)[j * ld(x.of)], in(copies_, x)[ipiv[0] - 1 + j * ld(x.of)]);
  }

  void write(const Part& x, Index m, Index columns) {
    for (Index j = 0; j < columns; j++)
      for (Index i = 0; i < m; i++) {
        const T value(static_cast<Real<T>>(random_.integer(-1, 1)));
        in(matrices_, x)[i + j * ld(x.of)] = in(copies_, x)[i + j * ld(x.of)] = value;
      }
  }
  void write() {
    const Index m = extent(), columns = extent();
    const auto x = part(m, columns);
    write(x, m, columns);
    changed(in(matrices_, x), m, columns, ld(x.of));
  }
  void write_whole() {
    const int which = static_cast<int>(random_.integer(0, 1));
    write({which, 0, 0}, size, size);
    if (which == 0) changed(matrices_[0].data());
  }
  /// Writes new elements where a result is no longer small.
  void keep_small(const Part& x, Index m, Index columns) {
    Real<T> largest = 0;
    for (Index j = 0; j < columns; j++)
      for (Index i = 0; i < m; i++) largest = std::max(largest, std::abs(in(copies_, x)[i + j * ld(x.of)]));
    if (largest < 300) return;
    write(x, m, columns);
    changed(in(matrices_, x), m, columns, ld(x.of));
  }

  Random random_;
  std::shared_ptr<detail::Session> session_;
  std::array<HostMatrix<T>, 2> matrices_, copies_;
};

/// As many cases as TESSERA_TEST_CASES says.
Index cases() {
  const char* const given = std::getenv("TESSERA_TEST_CASES");
  return given != nullptr ? std::atoll(given) : 100;
}

TEST(Kept, RandomProgramsComputeTheSame) {
  const char* const first = std::getenv("TESSERA_TEST_SEED");
  for (Index seed = first != nullptr ? std::atoll(first) : 1, end = seed + cases(); seed < end; seed++) {
    RandomProgram<double> program(static_cast<std::uint64_t>(seed));
    for (int step = 0; step < 40; step++) {
      program.step();
      ASSERT_EQ(program.wrong(), "") << "seed " << seed << ", step " << step;
    }
  }
}

/// The tiles of a result are those of an input of the next product, also if the library chooses them.
TEST(KeptLast, ResultsAreInputsInChosenTiles) {
  runtime.reset();
  runtime.emplace();
  {
    Operands with;
    for (Index j = 0; j < n; j++)  // exchanges rows, so results do not grow
      for (Index i = 0; i < n; i++) with.A(i, j) = i + j == n - 1;
    for (int call = 0; call < 6; call++) {
      auto &X = call % 2 == 0 ? with.B : with.C, &Y = call % 2 == 0 ? with.C : with.B;
      const auto expected = product(with.A, X);
      const auto moved = traffic([&] { multiply(with.A, X, Y); });
      for (Index j = 0; j < n; j++)
        for (Index i = 0; i < n; i++) ASSERT_EQ(Y(i, j), expected(i, j)) << call;
      if (counts() && call > 1) {
        EXPECT_EQ(moved.bytes_h2d + moved.bytes_d2d, 0u) << call;
      }
    }
  }
  runtime.reset();
  runtime.emplace(with_tile(tile));
}

/// Parts end while StarPU does.
TEST(KeptLast, AreForgottenWhileTheRuntimeEnds) {
  for (int round = 0; round < 10; round++) {
    auto with = std::make_unique<Operands>();
    with->multiply_right();
    std::thread forgets([&] { with.reset(); });
    runtime.reset();
    forgets.join();
    runtime.emplace(with_tile(tile));
  }
}

/// A kept matrix does not keep a runtime alive, and outlives it.
TEST(KeptLast, OutlivesTheRuntime) {
  Operands with;
  with.multiply_right();
  runtime.reset();
  EXPECT_EQ(starpu_is_initialized(), 0);
  with.A(0, 0) += 1;  // no tile is left
  runtime.emplace(with_tile(tile));
  with.multiply_right();
  with.multiply_right();
}

}  // namespace
}  // namespace tessera::test::kept_cpp
