// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "codelets/host_lapack.hpp"
#include "plan/plans.hpp"
#include "workload/other_libraries.hpp"
#include "workload/smallest_solution.hpp"
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

std::size_t size(Index i) { return static_cast<std::size_t>(i); }

/// geqrf overwrites C (m×n) with its factors. gels overwrites A (m×n) with its factors, and C (max(m, n)×k) with the
/// solution.
class Qr final : public Routine {
 public:
  explicit Qr(bool solves) : Routine(solves ? "gels" : "geqrf"), solves_(solves) {}

  Takes takes() const override { return {.m = true, .k = solves_, .beta = false}; }
  Peers peers() const override { return {.openblas = true, .cublas = false, .cusolver = true}; }
  bool factorizes_panels() const override { return true; }

  double flops(const Problem& p) const override {
    const auto large = static_cast<double>(std::max(p.m, p.n)), small = static_cast<double>(std::min(p.m, p.n)),
               nrhs = solves_ ? static_cast<double>(p.k) : 0;
    const double factor = small * small * (large - small / 3), solve = nrhs * small * (2 * large - small / 2);
    return tools::with_type(p.type, [&]<Scalar T>(T) { return flops_per_multiply_add<T> * (factor + solve); });
  }

  blas::Traffic traffic(const Problem& p) const override {
    const auto rows = static_cast<double>(std::max(p.m, p.n)), nrhs = solves_ ? static_cast<double>(p.k) : 0;
    const double elements = static_cast<double>(p.m) * static_cast<double>(p.n) + rows * nrhs;
    const double bytes =
        tools::with_type(p.type, [&]<Scalar T>(T) { return elements * static_cast<double>(sizeof(T)); });
    return {bytes, bytes};
  }

  Shapes shapes(const Problem& p) const override {
    const auto shape = [&](Index rows, Index columns) -> Shape {
      return {rows, columns, std::max<Index>(1, rows) + p.ld_pad};
    };
    auto factors = shape(p.m, p.n);
    if (!solves_) return {{}, {}, factors};
    factors.overwritten = true;
    return {factors, {}, shape(std::max(p.m, p.n), p.k)};
  }

  double growth(const Problem& /*p*/) const override { return std::numeric_limits<double>::infinity(); }

  using Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const detail::Machine& machine) const override {
    return plan::plan_geqrf(machine, p.type, solves_ ? std::max(p.m, p.n) : p.m, solves_ ? std::min(p.m, p.n) : p.n);
  }
  bool is_planned_whole() const override { return !solves_; }

  void run_tessera(const Problem& p, const Operands& o) const override {
    run<Index>(p, o, [&]<Scalar T>(Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb) -> Index {
      if (solves_) return gels(Op::NoTrans, m, n, nrhs, A, lda, B, ldb);
      geqrf(m, n, A, lda, tau<T>(p));
      return 0;
    });
  }
  void run_openblas(const Problem& p, const Operands& o) const override {
    run<int>(p, o, [&]<Scalar T>(int m, int n, int nrhs, T* A, int lda, T* B, int ldb) -> Index {
      const auto factorize = [&](T* work, int elements) -> Index {
        if (solves_) return host::gels(Op::NoTrans, m, n, nrhs, A, lda, B, ldb, work, elements);
        host::geqrf(m, n, A, lda, tau<T>(p), work, elements);
        return 0;
      };
      T best{};
      factorize(&best, -1);
      std::vector<T> work(static_cast<std::size_t>(std::max(std::real(best), Real<T>(1))));
      return factorize(work.data(), static_cast<int>(std::ssize(work)));
    });
  }
  void run_cusolver([[maybe_unused]] CuSolver& solver, [[maybe_unused]] const Problem& p,
                    [[maybe_unused]] const Operands& o) const override {
#ifdef TESSERA_WITH_CUDA
    const auto s = shapes(p);
    tools::with_type(p.type, [&]<Scalar T>(T) {
      solver.factorize_by_reflectors(p.type, p.m, p.n, solves_ ? o.A : o.C, (solves_ ? s.A : s.C).ld, tau<T>(p),
                                     solves_ ? p.k : 0, o.C, s.C.ld);
    });
#endif
  }

  /// geqrf: A t = Q R t for a random vector t. gels, for a random combination b = B t of right-hand sides and x = X t:
  /// if A has more rows than columns, Aᴴ (A x − b) = 0; otherwise A x = b, and with more columns than rows, x is the
  /// smallest solution. Errors are relative to the norms of the matrices and vectors.
  Verdict check(const Problem& p, const Operands& o) const override {
    const PauseWorkers pause;
    return tools::with_type(p.type, [&]<Scalar T>(T) {
      const double unit = std::numeric_limits<Real<T>>::epsilon() / 2;
      const double error = solves_ ? error_of_solution<T>(p, o) : error_of_factors<T>(p, static_cast<const T*>(o.C));
      return Verdict{error,
                     (is_complex<T> ? 2 * std::sqrt(2.0) : 1.0) * static_cast<double>(std::max(p.m, p.n) + 2) * unit};
    });
  }

 private:
  /// @param solve  (m, n, nrhs, A, lda, B, ldb) → info
  template <typename Size, typename Solve>
  void run(const Problem& p, const Operands& o, Solve solve) const {
    const auto s = shapes(p);
    const auto info = tools::with_type(p.type, [&]<Scalar T>(T) -> Index {
      return solve(static_cast<Size>(p.m), static_cast<Size>(p.n), static_cast<Size>(p.k),
                   static_cast<T*>(solves_ ? o.A : o.C), static_cast<Size>((solves_ ? s.A : s.C).ld),
                   static_cast<T*>(o.C), static_cast<Size>(s.C.ld));
    });
    if (info != 0) throw RuntimeError(name() + ": the matrix does not have full rank, info = " + std::to_string(info));
  }

  template <Scalar T>
  T* tau(const Problem& p) const {
    tau_.resize(size(std::min(p.m, p.n)));  // room for elements of any type
    return reinterpret_cast<T*>(tau_.data());
  }

  /// A random vector, whose entries have magnitude 1/2 to 1.
  template <Scalar T>
  static BoundedVector<T> random_vector(const Problem& p, Index n) {
    BoundedVector<T> t(n);
    for (Index j = 0; j < n; j++) {
      const double x = generated(p.seed, 3, j);
      t.x[size(j)] = Wide<T>(static_cast<WideReal<T>>(x < 0 ? x - 0.5 : x + 0.5));
    }
    return t;
  }

  template <Scalar T>
  double error_of_factors(const Problem& p, const T* C) const {
    const Index ld = shapes(p).C.ld, k = std::min(p.m, p.n);
    const auto t = random_vector<T>(p, p.n);
    const auto expected = apply<T>(Operand<T>{.ld = ld, .seed = p.seed}, p.m, t).x;
    auto y = apply<T>(Operand<T>{.data = C, .ld = ld, .form = Form::Triangular, .uplo = Uplo::Upper}, k, t).x;
    const double norm_of_r = norm(y);
    y.resize(size(p.m));
    for (Index j = k - 1; j >= 0; j--) reflect<T>(C + j * ld, j, p.m, tau<T>(p)[j], y);
    const double departure = std::abs(norm(y) - norm_of_r) / norm_of_r;  // departure of Q from a unitary matrix
    for (std::size_t i = 0; i < y.size(); i++) y[i] -= expected[i];
    const double error = norm(y) / norm(expected);
    return error >= departure ? error : departure;  // a NaN stays
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
    const auto t = random_vector<T>(p, p.k);
    const auto x = apply<T>(X, p.n, t), b = apply<T>(B, p.m, t);
    auto r = apply<T>(A, p.m, x);
    for (std::size_t i = 0; i < r.x.size(); i++) r.x[i] -= b.x[i];
    // Elements are distributed uniformly in (−1/2, 1/2).
    const double norm_of_a = std::sqrt(static_cast<double>(p.m) * static_cast<double>(p.n) / (is_complex<T> ? 6 : 12)),
                 scale = norm_of_a * norm(x.x) + norm(b.x);
    if (p.m == p.n) return norm(r.x) / scale;
    if (p.m < p.n) {
      const double error = norm(r.x) / scale;
      const double departure =
          departure_from_smallest<T>(A, p.m, norm_of_a, {.data = static_cast<const T*>(o.A), .ld = s.A.ld}, x);
      return error >= departure ? error : departure;  // a NaN stays
    }
    return norm(apply<T>(A.transposed(true), p.n, r).x) / (norm_of_a * scale);
  }

  bool solves_;
  mutable std::vector<std::complex<double>> tau_;  ///< tau of the latest call
};

}  // namespace

std::unique_ptr<Routine> qr(bool solves) { return std::make_unique<Qr>(solves); }

}  // namespace tessera::bench
