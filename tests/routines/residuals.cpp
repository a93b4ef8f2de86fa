// SPDX-License-Identifier: BSD-3-Clause
// Ill-conditioned triangular systems. The residual is at most ten times that of the host BLAS, which counts as at least
// one unit roundoff: below, it depends on how a few rounding errors cancel.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <tessera/blas.hpp>

#include "devices/cpu/host_blas.hpp"
#include "support/larger.hpp"
#include "support/operands.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 512;  // gives two diagonal blocks on GPUs
const auto* const runtime = share_runtime(with_tile(tile));
constexpr Index order = tile + 20, others = 4;

/// A family of lower triangles. Upper triangles are their transposes.
struct Family {
  std::string name;
  std::function<double(Index i, Index j, double random)> element;  ///< random: -1 to 1
};

/// Triangles with −a below the diagonal of each block of 256. The inverse of a block grows like (1 + a)^256.
Family growing(double condition) {
  const double a = std::pow(condition, 1.0 / 256) - 1;
  return {"growing " + std::to_string(static_cast<long long>(condition)), [a](Index i, Index j, double random) {
            if (i == j) return 1.0;
            return i / 256 == j / 256 ? -a : random / order;
          }};
}

/// @param condition  ratio of the largest to the smallest factor that grades the rows or columns of a triangle
std::vector<Family> families(double condition) {
  const auto grade = [=](Index i) { return std::pow(condition, -static_cast<double>(i) / (order - 1)); };
  const auto plain = [](Index i, Index j, double random) { return i == j ? 1.0 : random / order; };
  const auto at_random = [](double size) {
    return [size](Index i, Index j, double random) { return i == j ? 1.0 : i / 256 == j / 256 ? size * random : 0.0; };
  };
  std::vector<Family> all{
      {"well conditioned", plain},
      {"graded rows", [=](Index i, Index j, double random) { return grade(i) * plain(i, j, random); }},
      {"graded columns", [=](Index i, Index j, double random) { return grade(j) * plain(i, j, random); }},
      {"rows graded up", [=](Index i, Index j, double random) { return grade(order - 1 - i) * plain(i, j, random); }},
      {"random 0.3", at_random(0.3)},
      {"random 0.4", at_random(0.4)}};
  for (double growth = 100; growth <= condition; growth *= 100) all.push_back(growing(growth));
  return all;
}

template <Scalar T>
HostMatrix<T> triangle(const Family& family, Uplo uplo) {
  const auto random = random_matrix<T>(1, order, order);
  HostMatrix<T> A(order, order);
  for (Index j = 0; j < order; j++)
    for (Index i = 0; i < order; i++) {
      const Index row = std::max(i, j), column = std::min(i, j);
      const bool meant = uplo == Uplo::Lower ? i >= j : i <= j;
      if (meant) A(i, j) = T(static_cast<Real<T>>(family.element(row, column, 2 * std::real(random(i, j)))));
      else A(i, j) = marked_nan<T>(1);
    }
  return A;
}

/// Random right-hand sides. The second half have small solutions, so products with an inverse cancel.
template <Scalar T>
HostMatrix<T> right_hand_sides(Side side, Uplo uplo, Op op, const HostMatrix<T>& A) {
  const bool left = side == Side::Left;
  auto B = random_matrix<T>(2, left ? order : others, left ? others : order);
  const int m = static_cast<int>(left ? order : others / 2), n = static_cast<int>(left ? others / 2 : order);
  device::cpu::trmm<T>(side, uplo, op, Diag::NonUnit, m, n, T(1), A.data(), order,
                       left ? &B(0, others / 2) : &B(others / 2, 0), static_cast<int>(B.ld()));
  return B;
}

template <Scalar T>
struct System {
  Side side;
  Uplo uplo;
  Op op;
  const HostMatrix<T>& A;
  HostMatrix<T> B;
};

/// The maximum of max|B − op(A) X| / (u (‖A‖ max|X| + max|B|)) over the columns (Left) or rows (Right) of B.
template <Scalar T>
double residual(const System<T>& system, const HostMatrix<T>& X) {
  using WideReal = std::conditional_t<std::same_as<Real<T>, float>, double, long double>;
  using Wide = std::conditional_t<is_complex<T>, std::complex<WideReal>, WideReal>;
  const auto& [side, uplo, op, A, B] = system;
  const bool left = side == Side::Left;
  const auto entry = [left](const HostMatrix<T>& M, Index r, Index x) { return left ? M(r, x) : M(x, r); };
  // The coefficients of A in equation r: op(A)(r, k) with side Left, op(A)(k, r) with side Right.
  const bool stored_by_rows = left == (op == Op::NoTrans);
  const auto a = [&, &A = A, op = op](Index r, Index k) {
    const T value = stored_by_rows ? A(r, k) : A(k, r);
    if constexpr (is_complex<T>) return Wide(op == Op::ConjTrans ? std::conj(value) : value);
    else return Wide(value);
  };
  const bool before = (uplo == Uplo::Lower) == stored_by_rows;  // only elements with k <= r are stored
  long double norm = 0;
  std::vector<long double> worst(others), largest_x(others), largest_b(others);
  for (Index r = 0; r < order; r++) {
    std::vector<Wide> rest(others);
    for (Index x = 0; x < others; x++) rest[static_cast<std::size_t>(x)] = Wide(entry(B, r, x));
    long double sum = 0;
    for (Index k = before ? 0 : r; k < (before ? r + 1 : order); k++) {
      const Wide factor = a(r, k);
      sum += std::abs(factor);
      for (Index x = 0; x < others; x++) rest[static_cast<std::size_t>(x)] -= factor * Wide(entry(X, k, x));
    }
    norm = std::max(norm, sum);
    for (Index x = 0; x < others; x++) {
      const auto i = static_cast<std::size_t>(x);
      worst[i] = larger(worst[i], std::abs(rest[i]));
      largest_x[i] = larger(largest_x[i], std::abs(entry(X, r, x)));
      largest_b[i] = larger(largest_b[i], std::abs(entry(B, r, x)));
    }
  }
  constexpr long double u = std::numeric_limits<Real<T>>::epsilon() / 2;
  long double result = 0;
  for (std::size_t x = 0; x < others; x++) {
    result = larger(result, worst[x] / (u * (norm * largest_x[x] + largest_b[x])));
  }
  return static_cast<double>(result);
}

template <Scalar T>
class Residuals : public ::testing::Test {};
TYPED_TEST_SUITE(Residuals, ScalarTypes);

TYPED_TEST(Residuals, AreNearThoseOfTheHost) {
  using T = TypeParam;
  constexpr double largest_ratio = 10, smallest = 1;  // the host's residual counts as this at least [u]
  for (const auto& family : families(std::same_as<Real<T>, float> ? 1e6 : 1e12)) {
    double worst = 0, worst_residual = 0;
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      const auto A = triangle<T>(family, uplo);
      for (const Side side : {Side::Left, Side::Right})
        for (const Op op : {Op::NoTrans, is_complex<T> ? Op::ConjTrans : Op::Trans}) {
          const System<T> system{side, uplo, op, A, right_hand_sides(side, uplo, op, A)};
          auto mine = system.B, hosts = system.B;
          const Index m = mine.m(), n = mine.n();
          trsm<T>(side, uplo, op, Diag::NonUnit, m, n, T(1), A.data(), order, mine.data(), m);
          device::cpu::trsm<T>(side, uplo, op, Diag::NonUnit, static_cast<int>(m), static_cast<int>(n), T(1), A.data(),
                               order, hosts.data(), static_cast<int>(m));
          const double here = residual(system, mine), on_host = residual(system, hosts);
          const double ratio = here / std::max(on_host, smallest);
          EXPECT_LE(ratio, largest_ratio)
              << family.name << ' ' << static_cast<char>(side) << static_cast<char>(uplo) << static_cast<char>(op)
              << ": " << here << " u, on the host " << on_host << " u";
          if (!(ratio <= worst)) worst = ratio;
          worst_residual = std::max(worst_residual, here);
        }
    }
    std::printf("%c %-24s residual at most %6.2f u, %5.2f times that of the host\n", type_letter<T>,
                family.name.c_str(), worst_residual, worst);
  }
}

}  // namespace
}  // namespace tessera::test
