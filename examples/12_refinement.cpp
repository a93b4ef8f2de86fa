// SPDX-License-Identifier: BSD-3-Clause
// Solves A x = b to double precision with a factorization in float. The factors give the first digits of x. Each
// iteration computes the residual b - A x in double and uses the factors to correct x. On CPUs, float is twice as fast,
// and the iterations cost a few matrix-vector products. GPUs gain only if they are faster in float than in double. A
// must not be too ill-conditioned: from a condition number of about 10^7 on, the factors have no correct digits, and
// the iteration does not converge.
//
//   12_refinement [n]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <tessera/blas3.hpp>
#include <tessera/lapack.hpp>
#include <tessera/runtime.hpp>
#include <vector>

namespace {

using tessera::Index, tessera::Matrix, tessera::Op;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double norm(const std::vector<double>& x) {
  double largest = 0;
  for (const double xi : x)
    if (!(std::abs(xi) <= largest) && !std::isnan(largest)) largest = std::abs(xi);  // NaN is kept
  return largest;
}

/// A system of equations, and the panels into which its matrices are divided.
struct System {
  Index n;
  tessera::TileSize panels;
  std::vector<double> A, b;

  explicit System(Index order)
      : n(order), panels(tessera::gpu_count() > 0 ? tessera::TileSize{4096, 1024} : tessera::TileSize{order, 128}),
        A(n * n), b(n) {
    unsigned long long state = 88172645463325252ULL;
    const auto random = [&] {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      return static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
    };
    std::ranges::generate(A, random), std::ranges::generate(b, random);
  }
  /// An n×1 matrix whose tiles match those of the factors.
  template <typename T>
  Matrix<T> column(std::vector<T>& x) const {
    return {x.data(), n, 1, n, {panels.rows, 1}};
  }
  /// An upper bound of the largest row sum of A.
  double norm_a() const { return static_cast<double>(n) * norm(A); }
};

/// What a solver returns.
struct Solution {
  std::vector<double> x;
  double seconds = 0;
  int steps = 0;  ///< -1: no solution
};

Solution solve_in_double(const System& system) {
  Solution result{.x = system.b};
  auto memory = system.A;
  const auto start = Clock::now();
  const Matrix<double> A(memory.data(), system.n, system.n, system.n, system.panels);
  const auto X = system.column(result.x);
  const auto info = gesv(A, X).info;
  X.wait();
  if (info.wait() != 0) result.steps = -1;
  result.seconds = seconds_since(start);
  return result;
}

Solution solve_in_float_and_refine(const System& system) {
  const Index n = system.n;
  Solution result{.x = std::vector<double>(n)};
  const double enough =
      std::sqrt(static_cast<double>(n)) * std::numeric_limits<double>::epsilon() / 2 * system.norm_a();
  const auto start = Clock::now();
  std::vector<float> memory(system.A.begin(), system.A.end());
  const Matrix<float> factors(memory.data(), n, n, n, system.panels);
  const auto lu = getrf(factors);
  const Matrix<double> A(system.A.data(), n, n, n, system.panels);  // A's tiles stay on the devices between iterations
  auto residual = system.b;
  do {
    std::vector<float> correction(residual.begin(), residual.end());
    {
      const auto C = system.column(correction);
      getrs(Op::NoTrans, factors, lu.pivots, C);
      C.wait();
    }
    for (Index i = 0; i < n; i++) result.x[i] += correction[i];
    residual = system.b;
    // The rows of X are divided like the columns of A.
    const Matrix<double> X(result.x.data(), n, 1, n, {system.panels.columns, 1}), R = system.column(residual);
    gemm(Op::NoTrans, Op::NoTrans, -1.0, A, X, 1.0, R);  // residual = b - A x
    R.wait();
  } while (++result.steps < 30 && !(norm(residual) <= enough * norm(result.x)));
  if (lu.info.wait() != 0 || !(norm(residual) <= enough * norm(result.x))) result.steps = -1;
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const Index n = argc > 1 ? std::atoll(argv[1]) : 1500;
  if (n < 1) return std::puts("usage: 12_refinement [n], at least 1"), 1;
  const tessera::Runtime runtime;
  solve_in_double(System(100)), solve_in_float_and_refine(System(100));  // the first calls load kernels
  const System system(n);
  const auto in_double = solve_in_double(system), refined = solve_in_float_and_refine(system);
  if (in_double.steps < 0 || refined.steps < 0) return std::puts("no solution: A is too ill-conditioned"), 1;

  double difference = 0;
  for (Index i = 0; i < n; i++) {
    const double one = std::abs(in_double.x[i] - refined.x[i]);
    if (!(one <= difference)) difference = one;
  }
  std::printf("n = %lld: %.3f s in double, %.3f s in float with %d steps of refinement: %.2f times as fast\n",
              static_cast<long long>(n), in_double.seconds, refined.seconds, refined.steps,
              in_double.seconds / refined.seconds);
  difference /= norm(in_double.x);
  std::printf("the solutions differ by %.1e of the largest element, must be less than 1e-8\n", difference);
  return difference < 1e-8 ? 0 : 1;  // 1 for NaN
}
