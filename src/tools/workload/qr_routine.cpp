// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <vector>

#include <tessera/lapack.hpp>

#include "devices/cpu/host_lapack.hpp"
#include "plan/plans.hpp"
#include "workload/check.hpp"
#include "workload/factorization.hpp"
#include "workload/other_libraries.hpp"
#include "workload/smallest_solution.hpp"

namespace tessera::bench {

namespace {

std::size_t size(Index i) { return static_cast<std::size_t>(i); }

using tessera::gels, tessera::geqrf;
template <Scalar T>
Index gels(Op op, int m, int n, int nrhs, T* A, int lda, T* B, int ldb) {
  return with_workspace<T>(
      [&](T* work, int elements) { return device::cpu::gels(op, m, n, nrhs, A, lda, B, ldb, work, elements); });
}
template <Scalar T>
void geqrf(int m, int n, T* A, int lda, T* tau) {
  with_workspace<T>([&](T* work, int elements) { return device::cpu::geqrf(m, n, A, lda, tau, work, elements), 0; });
}

/// geqrf overwrites C (m×n) with its factors. gels overwrites A (m×n) with its factors, and C (max(m, n)×k) with the
/// solution.
class Qr final : public Factorization {
 public:
  explicit Qr(bool solves) : Factorization(solves ? "gels" : "geqrf", solves) {}

  Takes takes() const override { return {.m = true, .k = solves(), .beta = false}; }
  bool factorizes_panels() const override { return true; }

  using Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const machine::Machine& machine) const override {
    return plan::plan_geqrf(machine, p.type, solves() ? std::max(p.m, p.n) : p.m, solves() ? std::min(p.m, p.n) : p.n);
  }

  void run_tessera(const Problem& p, const Operands& o) const override { run<Index>(p, o); }
  void run_openblas(const Problem& p, const Operands& o) const override { run<int>(p, o); }
  /// cuSOLVER has no LQ factorization.
  bool has_cusolver(const Problem& p) const override { return !solves() || p.m >= p.n; }
  void run_cusolver(CuSolver& solver, const Problem& p, const Operands& o) const override {
    const auto s = shapes(p);
    solver.factorize_by_reflectors(p.type, p.m, p.n, address_of_matrix(o), shape_of_matrix(s).ld,
                                   tau<std::complex<double>>(p), solves() ? p.k : 0, o.C, s.C.ld);
  }

  /// geqrf: A t = Q R t for a random vector t. gels, for a random combination b = B t of right-hand sides and x = X t:
  /// if A has more rows than columns, Aᴴ (A x − b) = 0; otherwise A x = b, and with more columns than rows, x is the
  /// smallest solution. Errors are relative to the norms of the matrices and vectors.
  Verdict check(const Problem& p, const Operands& o) const override {
    const PauseWorkers pause;
    return common::with_type(p.type, [&]<Scalar T>(T) {
      const double error = solves() ? error_of_solution<T>(p, o) : error_of_factors<T>(p, static_cast<const T*>(o.C));
      return Verdict{error, error_bound<T>(std::max(p.m, p.n))};
    });
  }

 private:
  template <typename Size>
  void run(const Problem& p, const Operands& o) const {
    Factorization::run<Size>(p, o, "the matrix does not have full rank",
                             [&]<Scalar T>(Size nrhs, T* A, Size lda, T* B, Size ldb) -> Index {
                               const auto m = static_cast<Size>(p.m), n = static_cast<Size>(p.n);
                               if (solves()) return gels(Op::NoTrans, m, n, nrhs, A, lda, B, ldb);
                               geqrf(m, n, A, lda, tau<T>(p));
                               return 0;
                             });
  }

  Shape matrix(const Problem& p) const override { return {.rows = p.m, .columns = p.n}; }
  double multiply_adds(const Problem& p) const override {
    if (solves() && p.k == 0) return 0;  // gels then returns at once
    const auto large = static_cast<double>(std::max(p.m, p.n)), small = static_cast<double>(std::min(p.m, p.n));
    return small * small * (large - small / 3) + right_hand_sides(p) * small * (2 * large - small / 2);
  }

  template <Scalar T>
  T* tau(const Problem& p) const {
    tau_.resize(size(std::min(p.m, p.n)));  // room for elements of any type
    return reinterpret_cast<T*>(tau_.data());
  }

  template <Scalar T>
  double error_of_factors(const Problem& p, const T* C) const {
    const Index ld = shapes(p).C.ld, k = std::min(p.m, p.n);
    const auto t = random_vector<T>(p.n, p.seed);
    const auto expected = apply<T>(Operand<T>{.ld = ld, .seed = p.seed}, p.m, t).x;
    auto y = apply<T>(Operand<T>{.data = C, .ld = ld, .form = Form::Triangular, .uplo = Uplo::Upper}, k, t).x;
    const double norm_of_r = norm(y);
    y.resize(size(p.m));
    for (Index j = k - 1; j >= 0; j--) reflect<T>(C + j * ld, j, p.m, tau<T>(p)[j], y);
    const double departure =
        relative(std::abs(norm(y) - norm_of_r), norm_of_r);  // departure of Q from a unitary matrix
    for (std::size_t i = 0; i < y.size(); i++) y[i] -= expected[i];
    return std::max(departure, relative(norm(y), norm(expected)));
  }
  /// y ← (I − τ v vᴴ) y, where the stored elements of v lie below row j.
  template <Scalar T>
  static void reflect(const T* v, Index j, Index m, T tau, std::vector<Wide<T>>& y) {
    Wide<T> product = y[size(j)];
    for (Index i = j + 1; i < m; i++) product += multiply(widen(conjugated(v[i])), y[size(i)]);
    product = multiply(widen(tau), product);
    y[size(j)] -= product;
    for (Index i = j + 1; i < m; i++) y[size(i)] -= multiply(widen(v[i]), product);
  }

  template <Scalar T>
  double error_of_solution(const Problem& p, const Operands& o) const {
    const auto s = shapes(p);
    const Operand<T> A{.ld = s.A.ld, .seed = p.seed, .operand = 0}, B{.ld = s.C.ld, .seed = p.seed},
        X{.data = static_cast<const T*>(o.C), .ld = s.C.ld};
    const auto t = random_vector<T>(p.k, p.seed);
    const auto x = apply<T>(X, p.n, t), b = apply<T>(B, p.m, t);
    auto r = apply<T>(A, p.m, x);
    for (std::size_t i = 0; i < r.x.size(); i++) r.x[i] -= b.x[i];
    // Elements are distributed uniformly in (−1/2, 1/2).
    const double norm_of_a = std::sqrt(static_cast<double>(p.m) * static_cast<double>(p.n) / (is_complex<T> ? 6 : 12)),
                 scale = norm_of_a * norm(x.x) + norm(b.x);
    if (p.m > p.n) return relative(norm(apply<T>(A.transposed(true), p.n, r).x), norm_of_a * scale);
    const double error = relative(norm(r.x), scale);
    if (p.m == p.n) return error;
    return std::max(
        error, departure_from_smallest<T>(A, p.m, norm_of_a, {.data = static_cast<const T*>(o.A), .ld = s.A.ld}, x));
  }

  mutable std::vector<std::complex<double>> tau_;  ///< tau of the latest call
};

}  // namespace

std::unique_ptr<Routine> qr(bool solves) { return std::make_unique<Qr>(solves); }

}  // namespace tessera::bench
