// SPDX-License-Identifier: BSD-3-Clause
// geqrf, unmqr, ungqr and gels, on pointers and on matrices: residuals and orthogonality as LAPACK's testers define
// them, the factors and solutions of the host's LAPACK, and bad input.
#include <complex>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <tessera/lapack.hpp>

#include "algorithms/qr.hpp"
#include "devices/cpu/host_lapack.hpp"
#include "routines/qr_panels.hpp"
#include "runtime/process_session.hpp"
#include "support/residuals.hpp"
#include "support/runtime.hpp"
#include "support/tall_panels.hpp"
#include "support/tested_types.hpp"

namespace tessera::test {
namespace {

constexpr Index panel = 16;
const auto* const runtime = share_runtime(with_tile(panel));

constexpr Index sizes[] = {0, 1, 5, panel, panel + 1, 3 * panel - 1, 5 * panel + 3};

template <Scalar T>
Dense<T> adjoint(const Dense<T>& A) {
  Dense<T> result(A.n, A.m);
  for (Index j = 0; j < A.m; j++)
    for (Index i = 0; i < A.n; i++) result(i, j) = conjugate(A(j, i));
  return result;
}
template <Scalar T>
Dense<T> product(const Dense<T>& A, const Dense<T>& B) {
  Dense<T> result(A.m, B.n);
  for (auto& x : result.data) x = T{};
  if (A.n > 0) multiply(packed(A), packed(B), Op::NoTrans, result);
  return result;
}
template <Scalar T>
Dense<T> difference(const Dense<T>& A, const Dense<T>& B) {
  Dense<T> result(A.m, A.n);
  for (Index j = 0; j < A.n; j++)
    for (Index i = 0; i < A.m; i++) result(i, j) = A(i, j) - B(i, j);
  return result;
}

template <Scalar T>
struct Factors {
  Dense<T> A;
  std::vector<T> tau;

  explicit Factors(const Dense<T>& before)
      : A(before), tau(static_cast<std::size_t>(std::min(before.m, before.n)), T(-77)) {
    geqrf(A.layout, A.m, A.n, A.data.data(), A.ld, tau.data());
  }
  /// Factorizes in panels of this width.
  Factors(const Dense<T>& before, Index width) : A(before), tau(static_cast<std::size_t>(before.n)) {
    const Matrix<T> a(A.data.data(), A.m, A.n, A.m, {A.m, width});
    geqrf(a).wait(tau.data());
  }
  Index count() const { return std::ssize(tau); }
  Dense<T> R() const {
    Dense<T> R(count(), A.n);
    for (Index j = 0; j < A.n; j++)
      for (Index i = 0; i < R.m; i++) R(i, j) = i > j ? T{} : A(i, j);
    return R;
  }
  /// The first n columns of Q.
  Dense<T> Q(Index n) const {
    Dense<T> Q(A.m, n, A.layout, 2);
    for (Index j = 0; j < std::min(n, count()); j++)
      for (Index i = 0; i < A.m; i++) Q(i, j) = A(i, j);
    ungqr(Q.layout, Q.m, n, std::min(n, count()), Q.data.data(), Q.ld, tau.data());
    return Q;
  }
};

/// max|A − Q R| / (max(m, n) ‖A‖ u)
template <Scalar T>
double residual(const Dense<T>& A, const Dense<T>& Q, const Dense<T>& R) {
  return relative(largest(difference(A, product(Q, R))), static_cast<double>(std::max(A.m, A.n)) * norm(A) * unit<T>);
}
/// max|Qᴴ Q − I| / (m u)
template <Scalar T>
double loss_of_orthogonality(const Dense<T>& Q) {
  return relative(largest(difference(product(adjoint(Q), Q), identity<T>(Q.n))), static_cast<double>(Q.m) * unit<T>);
}
template <Scalar T>
void expect_factors(const Dense<T>& A, const Factors<T>& f) {
  const auto Q = f.Q(f.count());
  EXPECT_LE(residual(A, Q, f.R()), threshold) << A.m << "x" << A.n;
  EXPECT_LE(loss_of_orthogonality(Q), threshold) << A.m << "x" << A.n;
}
template <Scalar T>
void expect_factors(const Dense<T>& A) {
  expect_factors(A, Factors<T>(A));
}
/// Whether two results of the same well-conditioned problem differ only by rounding errors.
template <Scalar T>
void expect_close(const Dense<T>& ours, const Dense<T>& theirs) {
  EXPECT_LE(relative(largest(difference(ours, theirs)), largest(theirs)), 1e4 * unit<T>) << ours.m << "x" << ours.n;
}

template <typename T>
class Qr : public ::testing::Test {};
TYPED_TEST_SUITE(Qr, ScalarTypes);

TYPED_TEST(Qr, FactorizesAllShapes) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const Index m : sizes)
      for (const Index n : sizes) {
        const auto A = random_matrix<T>(m, n, static_cast<std::uint64_t>(100 * m + n), layout, (m + n) % 3);
        expect_factors(A);
        ASSERT_TRUE(padding_is_intact(Factors<T>(A).A)) << m << "x" << n;
      }
}

TYPED_TEST(Qr, HasTheFactorsOfTheHostsLapack) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{70, 70}, {90, 40}, {40, 90}, {1000, 33}}) {
    const auto A = random_matrix<T>(m, n, 3);
    const Factors<T> ours(A);
    auto theirs = A;
    std::vector<T> tau(ours.tau.size()), work(static_cast<std::size_t>(64 * n));
    device::cpu::geqrf(static_cast<int>(m), static_cast<int>(n), theirs.data.data(), static_cast<int>(m), tau.data(),
                       work.data(), static_cast<int>(std::ssize(work)));
    expect_close(ours.A, theirs);
    for (std::size_t i = 0; i < tau.size(); i++) EXPECT_LE(std::abs(ours.tau[i] - tau[i]), 1e4 * unit<T>) << i;
  }
}

TYPED_TEST(Qr, FactorizesHardMatrices) {
  using T = TypeParam;
  const auto make = [](Index m, Index n, auto change) {
    auto A = random_matrix<T>(m, n, 4);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++) change(A, i, j);
    return A;
  };
  for (const auto& [m, n] : {std::pair<Index, Index>{70, 70}, {1500, 40}, {40, 90}}) {
    const auto columns = static_cast<double>(n);
    const auto scale = [](double x) { return static_cast<Real<T>>(x); };
    expect_factors(make(m, n, [&](auto& A, Index i, Index j) {  // graded: a condition of 10^12
      A(i, j) *= scale(std::pow(10.0, -12 * static_cast<double>(j) / columns));
    }));
    expect_factors(make(m, n, [&](auto& A, Index i, Index j) {  // columns that are nearly the same
      if (j > 0) A(i, j) = A(i, 0) + A(i, j) * scale(1e-12);
    }));
    expect_factors(make(m, n, [&](auto& A, Index i, Index j) {  // a matrix of rank 3
      if (j >= 3) A(i, j) = A(i, j % 3);
    }));
    for (const Index zero : {Index{0}, panel - 1, panel, 2 * panel + 2, std::min(m, n) - 1})
      expect_factors(make(m, n, [&](auto& A, Index i, Index j) {
        if (j == zero) A(i, j) = T{};
      }));
    expect_factors(make(m, n, [](auto& A, Index i, Index j) { A(i, j) = T{}; }));
    for (const double size : {1e-30, 1e30})
      expect_factors(make(m, n, [&](auto& A, Index i, Index j) { A(i, j) *= scale(size); }));
  }
}

/// In one panel, which is much taller than wide, and in several.
TYPED_TEST(Qr, FactorizesTallPanelsOfAnyCondition) {
  using T = TypeParam;
  for (const auto& [name, A] : tall_panels<T>(1500, 40)) {
    SCOPED_TRACE(name);
    if (std::isfinite(largest(A)))
      for (const Index width : {A.n, panel}) expect_factors(A, Factors<T>(A, width));
    else EXPECT_FALSE(std::isfinite(largest(Factors<T>(A, A.n).A)));
  }
  for (const double condition : {1.0, 1e8, 1e12}) {
    const auto A = with_condition<T>(20000, 64, condition, 3);
    expect_factors(A, Factors<T>(A, A.n));
  }
}

/// A panel that GPUs, too, cut into halves, see halved_panel.hpp.
TYPED_TEST(Qr, FactorizesPanelsInHalves) {
  using T = TypeParam;
  const Index m = 4200, n = 96;
  for (const double condition : {1.0, 1e12}) {
    SCOPED_TRACE(condition);
    const auto A = with_condition<T>(m, n, condition, 6);
    expect_factors(A, Factors<T>(A, n));
  }
  auto A = random_matrix<T>(m, n, 7);  // no right half has independent columns
  for (Index j = n / 2; j < n; j++)
    for (Index i = 0; i < m; i++) A(i, j) = A(i, j - n / 2);
  expect_factors(A, Factors<T>(A, n));
}

TYPED_TEST(Qr, EndsWithNotANumber) {
  using T = TypeParam;
  for (const Index m : {4 * panel, 100 * panel}) {
    auto A = random_matrix<T>(m, 4 * panel, 8);
    A(m / 2, 2 * panel) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    const Factors<T> f(A);
    const auto nans = [&](Index column) {
      Index count = 0;
      for (Index i = 0; i < m; i++) count += std::isnan(std::abs(f.A(i, column))) ? 1 : 0;
      return count;
    };
    EXPECT_EQ(nans(panel), 0) << "columns before it";
    EXPECT_GT(nans(2 * panel), 0);
    EXPECT_GT(nans(3 * panel), 0) << "columns after it";
  }
}

TYPED_TEST(Qr, MultipliesByTheUnitaryFactor) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const auto& [order, k] : {std::pair<Index, Index>{1, 1}, {panel + 3, panel}, {53, 40}, {20, 20}}) {
      const Factors<T> f(random_matrix<T>(order, k, 9, layout, 1));
      const auto Q = f.Q(order);
      EXPECT_LE(loss_of_orthogonality(Q), threshold);
      for (const Index others : {Index{1}, panel + 5})
        for (const auto side : {Side::Left, Side::Right})
          for (const auto op : {Op::NoTrans, Op::ConjTrans}) {
            const bool left = side == Side::Left;
            const auto C = random_matrix<T>(left ? order : others, left ? others : order, 10, layout, 2);
            auto ours = C;
            unmqr(layout, side, op, C.m, C.n, k, f.A.data.data(), f.A.ld, f.tau.data(), ours.data.data(), ours.ld);
            const auto factor = op == Op::NoTrans ? packed(Q) : adjoint(Q);
            const auto expected = left ? product(factor, packed(C)) : product(packed(C), factor);
            EXPECT_LE(largest(difference(ours, expected)), threshold * static_cast<double>(order) * unit<T>);
          }
    }
}

/// The solution of the host's LAPACK, whose factors overwrite A.
template <Scalar T>
Dense<T> solution_of_host(Op op, Dense<T>& A, const Dense<T>& B) {
  auto X = packed(B);
  std::vector<T> work(static_cast<std::size_t>(64 * (A.m + A.n + B.n + 1)));
  EXPECT_EQ(device::cpu::gels(op, static_cast<int>(A.m), static_cast<int>(A.n), static_cast<int>(B.n), A.data.data(),
                              static_cast<int>(A.ld), X.data.data(), static_cast<int>(X.ld), work.data(),
                              static_cast<int>(std::ssize(work))),
            0);
  return X;
}

TYPED_TEST(Qr, SolvesAsTheHostsLapack) {
  using T = TypeParam;
  for (const auto layout : layouts)
    for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {70, 40}, {40, 70}, {panel, 3}, {5, panel + 1}})
      for (const Index nrhs : {Index{1}, panel + 3})
        for (const auto op : {Op::NoTrans, Op::ConjTrans}) {
          const auto A = random_matrix<T>(m, n, 11, layout, 1);
          const auto B = random_matrix<T>(std::max(m, n), nrhs, 12, layout, 2);
          auto factors = A;
          auto X = B;
          ASSERT_EQ(gels(layout, op, m, n, nrhs, factors.data.data(), factors.ld, X.data.data(), X.ld), 0);
          auto theirs = packed(A);
          const auto expected = solution_of_host(op, theirs, B);
          expect_close(packed(factors), theirs);
          expect_close(packed(X), expected);
        }
}

/// Elements that are denormal, or so large that the norm of a column overflows.
TYPED_TEST(Qr, SolvesAtTheEndsOfTheRange) {
  using T = TypeParam;
  const auto tiny = std::numeric_limits<Real<T>>::min() * Real<T>(1e-5), huge = std::numeric_limits<Real<T>>::max() / 2,
             usual = Real<T>(1);
  const auto scaled = [](Dense<T> A, Real<T> size) {
    for (auto& x : A.data) x *= size;
    return A;
  };
  for (const auto& [of_a, of_b] : {std::pair{tiny, tiny}, {huge, huge}, {usual, tiny}, {usual, huge}})
    for (const auto& [m, n] : {std::pair<Index, Index>{70, 40}, {40, 70}})
      for (const auto op : {Op::NoTrans, Op::ConjTrans}) {
        const auto A = scaled(random_matrix<T>(m, n, 20), of_a),
                   B = scaled(random_matrix<T>(std::max(m, n), 3, 21), of_b);
        auto ours = A, theirs = A, X = B;
        SCOPED_TRACE(static_cast<double>(of_a));
        SCOPED_TRACE(static_cast<double>(of_b));
        ASSERT_EQ(gels(op, m, n, 3, ours.data.data(), m, X.data.data(), X.ld), 0);
        const auto expected = solution_of_host(op, theirs, B);
        expect_close(ours, theirs);
        expect_close(X, expected);
      }
}

TYPED_TEST(Qr, LeavesRightHandSidesWithoutFullRank) {
  using T = TypeParam;
  for (const auto& [m, n, op] : {std::tuple<Index, Index, Op>{70, 40, Op::ConjTrans}, {40, 70, Op::NoTrans}}) {
    auto A = random_matrix<T>(m, n, 22);
    for (Index i = 0; i < std::max(m, n); i++) (m > n ? A(i, 20) : A(20, i)) = T{};
    const auto B = random_matrix<T>(70, 2, 23);
    auto X = B;
    EXPECT_EQ(gels(op, m, n, 2, A.data.data(), m, X.data.data(), X.ld), 21);
    EXPECT_EQ(X.data, B.data) << "as LAPACK leaves it";
  }
}

/// On matrices: the rank is reported as on pointers.
TYPED_TEST(Qr, SaysWhetherMatricesHaveFullRank) {
  using T = TypeParam;
  for (const auto op : {Op::NoTrans, Op::ConjTrans})
    for (const bool zeros : {false, true}) {
      auto A = random_matrix<T>(70, 40, 24), B = random_matrix<T>(70, 5, 25);
      for (Index j = 0; j < 40; j++)
        for (Index i = 0; i < 70; i++)
          if (zeros || j == 0) A(i, j) = T{};
      Index info = -1;
      {
        const Matrix<T> a(A.data.data(), 70, 40, 70, {70, panel}), b(B.data.data(), 70, 5, 70, {70, 3});
        info = gels(op, a, b).wait();
      }
      EXPECT_EQ(info, zeros ? 0 : 1);
      if (zeros) {
        EXPECT_EQ(largest(B), 0) << "of a matrix of zeros";
      }
    }
}

TYPED_TEST(Qr, SaysWhetherThereIsFullRank) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{70, 40}, {40, 70}})
    for (const Index zero : {Index{0}, panel, Index{39}}) {
      auto A = random_matrix<T>(m, n, 13);
      for (Index i = 0; i < std::max(m, n); i++) (m > n ? A(i, zero) : A(zero, i)) = T{};
      auto B = random_matrix<T>(std::max(m, n), 2, 14);
      EXPECT_EQ(gels(Op::NoTrans, m, n, 2, A.data.data(), m, B.data.data(), B.ld), zero + 1);
      for (auto& a : A.data) a = T{};
      EXPECT_EQ(gels(Op::NoTrans, m, n, 2, A.data.data(), m, B.data.data(), B.ld), 0);
      EXPECT_EQ(largest(B), 0) << "of a matrix of zeros";
    }
  auto B = random_matrix<T>(7, 2, 15);
  EXPECT_EQ(gels<T>(Op::NoTrans, 7, 0, 2, nullptr, 7, B.data.data(), 7), 0);
  EXPECT_EQ(largest(B), 0) << "of an empty matrix";
}

TYPED_TEST(Qr, WorksOnMatricesWithoutAWait) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{6 * panel + 3, 4 * panel - 2}, {3 * panel, 3 * panel}}) {
    const auto A = random_matrix<T>(m, n, 16), B = random_matrix<T>(m, 7, 17), C = random_matrix<T>(5, m, 18);
    const Factors<T> f(A);
    auto Q = A, X = B, Y = C;
    std::vector<T> tau(f.tau.size());
    {
      const Matrix<T> q(Q.data.data(), m, n, m, {m, panel}), x(X.data.data(), m, 7, m, {m, 3}),
          y(Y.data.data(), 5, m, 5, {2, m});
      const auto reflectors = geqrf(q);
      unmqr(Side::Left, Op::ConjTrans, q, reflectors, x);
      unmqr(Side::Right, Op::NoTrans, q, reflectors, y);
      ungqr(q, reflectors);
      reflectors.wait(tau.data());
    }
    // Not the same bits: if the policy places tasks, cores may factorize other panels than in the call on pointers.
    for (std::size_t i = 0; i < tau.size(); i++)
      EXPECT_LE(std::abs(tau[i] - f.tau[i]), threshold * static_cast<double>(m) * unit<T>) << i;
    const auto whole = packed(f.Q(m));
    EXPECT_LE(largest(difference(Q, f.Q(n))), threshold * static_cast<double>(m) * unit<T>);
    EXPECT_LE(largest(difference(X, product(adjoint(whole), B))), threshold * static_cast<double>(m) * unit<T>);
    EXPECT_LE(largest(difference(Y, product(C, whole))), threshold * static_cast<double>(m) * unit<T>);
    for (const auto op : {Op::NoTrans, Op::ConjTrans}) {
      auto factors = A, solution = B;
      {
        const Matrix<T> a(factors.data.data(), m, n, m, {m, panel}), x(solution.data.data(), m, 7, m, {m, 4});
        EXPECT_EQ(gels(op, a, x).wait(), 0);
      }
      factors = A;
      EXPECT_LE(relative(largest(difference(solution, solution_of_host(op, factors, B))), largest(solution)),
                1e5 * unit<T>);
    }
  }
}

TYPED_TEST(Qr, WorksInBothOrders) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{90, 70}, {40, 90}}) {
    const auto A = random_matrix<T>(m, n, 19);
    const Factors<T> f(A);
    for (const Index together : {1, 2}) {
      auto factors = A;
      {
        const auto session = runtime::session();
        const Matrix<T> a(factors.data.data(), m, n, m, {m, panel});
        const auto reflectors = routines::reflectors_of(a);
        routines::submit_qr(routines::panels_of(a), a, *reflectors, a,
                            [&](auto& to) { algorithms::geqrf_out_of_core(to, together); });
      }
      expect_close(factors, f.A);
    }
  }
}

TEST(QrBadInput, IsRefusedOnPointers) {
  std::vector<double> A(100, 1);
  std::vector<std::complex<double>> Z(9);
  auto *a = A.data(), *none = static_cast<double*>(nullptr);
  auto* z = Z.data();
  const auto left = Side::Left, right = Side::Right;
  const auto plain = Op::NoTrans;
  const auto row = Layout::RowMajor;
  expect_refused<ArgumentError>([&] { geqrf(-1, 3, a, 3, a + 50); }, "geqrf", 1, "m");
  expect_refused<ArgumentError>([&] { geqrf(3, -1, a, 3, a + 50); }, "geqrf", 2, "n");
  expect_refused<ArgumentError>([&] { geqrf(3, 3, none, 3, a + 50); }, "geqrf", 3, "A");
  expect_refused<ArgumentError>([&] { geqrf(3, 3, a, 2, a + 50); }, "geqrf", 4, "lda");
  expect_refused<ArgumentError>([&] { geqrf(3, 3, a, 3, none); }, "geqrf", 5, "tau");
  expect_refused<ArgumentError>([&] { geqrf(row, 4, 3, a, 2, a + 50); }, "geqrf", 5, "lda");
  expect_refused<ArgumentError>([&] { unmqr(Side{'x'}, plain, 3, 2, 2, a, 3, a + 50, a + 60, 3); }, "unmqr", 1, "side");
  expect_refused<ArgumentError>([&] { unmqr(left, Op::Trans, 1, 1, 1, z, 1, z + 1, z + 2, 1); }, "unmqr", 2, "op");
  expect_refused<ArgumentError>([&] { unmqr(left, plain, -1, 2, 2, a, 3, a + 50, a + 60, 3); }, "unmqr", 3, "m");
  expect_refused<ArgumentError>([&] { unmqr(left, plain, 3, 2, 4, a, 3, a + 50, a + 60, 3); }, "unmqr", 5, "k");
  expect_refused<ArgumentError>([&] { unmqr(right, plain, 3, 2, 3, a, 3, a + 50, a + 60, 3); }, "unmqr", 5, "k");
  expect_refused<ArgumentError>([&] { unmqr(left, plain, 3, 2, 2, none, 3, a + 50, a + 60, 3); }, "unmqr", 6, "A");
  expect_refused<ArgumentError>([&] { unmqr(left, plain, 3, 2, 2, a, 2, a + 50, a + 60, 3); }, "unmqr", 7, "lda");
  expect_refused<ArgumentError>([&] { unmqr(left, plain, 3, 2, 2, a, 3, none, a + 60, 3); }, "unmqr", 8, "tau");
  expect_refused<ArgumentError>([&] { unmqr(left, plain, 3, 2, 2, a, 3, a + 50, a + 60, 2); }, "unmqr", 10, "ldc");
  expect_refused<ShapeError>([&] { unmqr(left, plain, 3, 2, 2, a, 3, a + 50, a + 2, 3); }, "unmqr", 9, "C");
  expect_refused<ArgumentError>([&] { ungqr(3, 4, 2, a, 3, a + 50); }, "ungqr", 2, "n");
  expect_refused<ArgumentError>([&] { ungqr(3, 2, 3, a, 3, a + 50); }, "ungqr", 3, "k");
  expect_refused<ArgumentError>([&] { ungqr(3, 2, 2, a, 2, a + 50); }, "ungqr", 5, "lda");
  expect_refused<ArgumentError>([&] { ungqr(3, 2, 2, a, 3, none); }, "ungqr", 6, "tau");
  expect_refused<ArgumentError>([&] { gels(Op::Trans, 1, 1, 1, z, 1, z + 1, 1); }, "gels", 1, "op");
  expect_refused<ArgumentError>([&] { gels(plain, 3, 2, -1, a, 3, a + 60, 3); }, "gels", 4, "nrhs");
  expect_refused<ArgumentError>([&] { gels(plain, 3, 2, 1, none, 3, a + 60, 3); }, "gels", 5, "A");
  expect_refused<ArgumentError>([&] { gels(plain, 3, 2, 1, a, 2, a + 60, 3); }, "gels", 6, "lda");
  expect_refused<ArgumentError>([&] { gels(plain, 2, 3, 1, a, 2, a + 60, 2); }, "gels", 8, "ldb");
  expect_refused<ShapeError>([&] { gels(plain, 3, 2, 1, a, 3, a + 5, 3); }, "gels", 7, "B");
  EXPECT_EQ(A, std::vector<double>(100, 1));
}

TEST(QrBadInput, IsRefusedOnMatrices) {
  std::vector<double> A(36, 1), B(36, 1);
  const Matrix<double> squares(A.data(), 6, 6, 6, {2, 2}), wide(A.data(), 4, 6, 6, {4, 2}),
      a(A.data(), 6, 6, 6, {6, 2}), other(B.data(), 6, 6, 6, {6, 3}), x(B.data(), 6, 2, 6, {2, 2}),
      low(B.data(), 5, 2, 6, {5, 2});
  expect_refused<ShapeError>([&] { geqrf(squares); }, "geqrf", 1, "A");
  expect_refused<ArgumentError>([&] { geqrf(a.transposed()); }, "geqrf", 1, "A");
  const auto reflectors = geqrf(other);
  expect_refused<ShapeError>([&] { ungqr(a, reflectors); }, "ungqr", 2, "reflectors");
  expect_refused<ShapeError>([&] { ungqr(wide, reflectors); }, "ungqr", 1, "A");
  expect_refused<ShapeError>([&] { unmqr(Side::Left, Op::NoTrans, a, reflectors, x); }, "unmqr", 4, "reflectors");
  expect_refused<ShapeError>([&] { unmqr(Side::Left, Op::NoTrans, other, reflectors, low); }, "unmqr", 5, "C");
  expect_refused<ShapeError>([&] { unmqr(Side::Left, Op::NoTrans, other, reflectors, squares); }, "unmqr", 5, "C");
  expect_refused<ShapeError>([&] { gels(Op::NoTrans, wide, x); }, "gels", 2, "A");
  expect_refused<ShapeError>([&] { gels(Op::NoTrans, a, x); }, "gels", 3, "B");
  std::vector<float> tau(6);
  expect_refused<ArgumentError>([&] { reflectors.wait(tau.data()); }, "Reflectors::wait", 1, "tau");
}

}  // namespace
}  // namespace tessera::test
