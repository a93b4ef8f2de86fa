// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "codelets/host_lapack.hpp"
#include "plan/plans.hpp"
#include "workload/critical_path.hpp"
#include "workload/other_libraries.hpp"
#include "workload/parallel.hpp"
#include "workload/spread.hpp"
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// getrf overwrites C (m×n) with its factors. gesv overwrites A (n×n) with its factors, and C with A⁻¹ C, where C has k
/// right-hand sides.
class Lu final : public Routine {
 public:
  explicit Lu(bool solves) : Routine(solves ? "gesv" : "getrf"), solves_(solves) {}

  Takes takes() const override { return {.m = !solves_, .k = solves_, .beta = false}; }
  Peers peers() const override { return {.openblas = true, .cublas = false, .cusolver = true}; }
  bool can_be_spread() const override { return !solves_; }
  bool factorizes_panels() const override { return true; }
  bool has_panels_for_cores() const override { return true; }

  double flops(const Problem& p) const override {
    const auto n = static_cast<double>(p.n), k = static_cast<double>(std::min(rows(p), p.n)),
               m = static_cast<double>(rows(p)), nrhs = solves_ ? static_cast<double>(p.k) : 0;
    return tools::with_type(p.type, [&]<Scalar T>(T) {
      return flops_per_multiply_add<T> * (m * n * k - (m + n) * k * k / 2 + k * k * k / 3 + n * n * nrhs);
    });
  }

  blas::Traffic traffic(const Problem& p) const override {
    const auto n = static_cast<double>(p.n), nrhs = solves_ ? static_cast<double>(p.k) : 0;
    const double bytes = tools::with_type(p.type, [&]<Scalar T>(T) {
      return (static_cast<double>(rows(p)) * n + n * nrhs) * static_cast<double>(sizeof(T));
    });
    return {bytes, bytes};
  }

  Shapes shapes(const Problem& p) const override {
    const auto shape = [&](Index columns) -> Shape {
      return {rows(p), columns, std::max<Index>(1, rows(p)) + p.ld_pad};
    };
    auto factors = shape(p.n);
    if (!solves_) return {{}, {}, factors};
    factors.overwritten = true;
    return {factors, {}, shape(p.k)};
  }

  double growth(const Problem& /*p*/) const override { return std::numeric_limits<double>::infinity(); }

  using Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const detail::Machine& machine) const override {
    return plan::plan_getrf(machine, p.type, rows(p), p.n);
  }
  bool is_planned_whole() const override { return !solves_; }

  void run_tessera(const Problem& p, const Operands& o) const override {
    run<Index>(p, o, [&]<Scalar T>(Index nrhs, T* A, Index lda, T* B, Index ldb) {
      return solves_ ? gesv(p.n, nrhs, A, lda, pivots_.data(), B, ldb) : getrf(p.m, p.n, A, lda, pivots_.data());
    });
  }
  std::unique_ptr<SpreadCall> spread(const Problem& p, const Operands& o) const override {
    const auto tile = plan_of(p).tile;
    return tools::with_type(p.type, [&]<Scalar T>(T) {
      const auto factorize = [this](const auto& /*A*/, const auto& /*B*/, const Matrix<T>& C) {
        const auto pivots = getrf(C).pivots.wait();
        pivots_.assign(pivots.begin(), pivots.end());
      };
      return spread_call<T>(shapes(p), o, {{{}, {}, {tile.m, tile.n}}}, factorize);
    });
  }
  void run_openblas(const Problem& p, const Operands& o) const override {
    run<int>(p, o, [&]<Scalar T>(int nrhs, T* A, int lda, T* B, int ldb) {
      const int n = static_cast<int>(p.n);
      return solves_ ? host::gesv(n, nrhs, A, lda, pivots_.data(), B, ldb)
                     : host::getrf(static_cast<int>(p.m), n, A, lda, pivots_.data());
    });
  }
  void run_cusolver([[maybe_unused]] CuSolver& solver, [[maybe_unused]] const Problem& p,
                    [[maybe_unused]] const Operands& o) const override {
#ifdef TESSERA_WITH_CUDA
    const auto s = shapes(p);
    pivots_.resize(static_cast<std::size_t>(std::min(rows(p), p.n)));
    solver.factorize_with_pivots(p.type, rows(p), p.n, solves_ ? o.A : o.C, (solves_ ? s.A : s.C).ld, pivots_.data(),
                                 solves_ ? p.k : 0, o.C, s.C.ld);
#endif
  }

  bool has_cusolver_mg(const Problem& /*p*/) const override { return !solves_; }
  void run_cusolver_mg([[maybe_unused]] CuSolverMg& solver, [[maybe_unused]] const Problem& p,
                       [[maybe_unused]] const Operands& o) const override {
#ifdef TESSERA_WITH_CUDA
    pivots_.resize(static_cast<std::size_t>(std::min(p.m, p.n)));
    solver.factorize_with_pivots(p.type, p.m, p.n, o.C, shapes(p).C.ld, pivots_.data());
#endif
  }

  double critical_path(const Problem& p, const Operands& o, double rate) const override {
    const auto s = shapes(p);
    const auto tile = plan_of(p).tile;
    return tools::with_type(p.type, [&]<Scalar T>(T) {
      return lu_path<T>(rows(p), p.n, static_cast<T*>(solves_ ? o.A : o.C), (solves_ ? s.A : s.C).ld, {tile.m, tile.n},
                        rate);
    });
  }

  /// gesv is checked by its residual: 0 = A X − B. For getrf, the factors are multiplied with a vector.
  Verdict check(const Problem& p, const Operands& o) const override {
    return tools::with_type(p.type, [&]<Scalar T>(T) {
      const auto s = shapes(p);
      auto* const C = static_cast<const T*>(o.C);
      if (!solves_) return check_factors<T>(p, C, s.C.ld);
      const Operand<T> A{.ld = s.A.ld, .seed = p.seed, .operand = 0}, X{.data = C, .ld = s.C.ld},
          B{.ld = s.C.ld, .seed = p.seed};
      return check_equation<T>({p.n, p.k, p.n, {{T(1), A, X}}, T(-1), B, {.form = Form::Zero}, C});
    });
  }

 private:
  Index rows(const Problem& p) const { return solves_ ? p.n : p.m; }

  /// @param solve  (nrhs, A, lda, B, ldb) → info
  template <typename Size, typename Solve>
  void run(const Problem& p, const Operands& o, Solve solve) const {
    const auto s = shapes(p);
    pivots_.resize(static_cast<std::size_t>(std::min(rows(p), p.n)));
    const auto info = tools::with_type(p.type, [&]<Scalar T>(T) -> Index {
      return solve(static_cast<Size>(p.k), static_cast<T*>(solves_ ? o.A : o.C),
                   static_cast<Size>((solves_ ? s.A : s.C).ld), static_cast<T*>(o.C), static_cast<Size>(s.C.ld));
    });
    if (info != 0) throw RuntimeError(name() + ": the matrix is singular, info = " + std::to_string(info));
  }

  /// Compares P A t with L U t for a random vector t with entries of magnitude 1/2 to 1. The error of a row is relative
  /// to |L| |U| |t|, which also bounds the rounding errors.
  template <Scalar T>
  Verdict check_factors(const Problem& p, const T* C, Index ld) const {
    const Index m = p.m, n = p.n, k = std::min(m, n);
    const auto size = [](Index i) { return static_cast<std::size_t>(i); };
    std::vector<Wide<T>> t(size(n)), ut(size(k)), at(size(m)), lut(size(m));
    std::vector<WideReal<T>> u_size(size(k)), lu_size(size(m));
    for (Index j = 0; j < n; j++) {
      const double x = generated(p.seed, 3, j);
      t[size(j)] = Wide<T>(static_cast<WideReal<T>>(x < 0 ? x - 0.5 : x + 0.5));
    }
    // In parallel by rows, so that each row of the sums belongs to one thread.
    parallel_for(m, 64, [&](Index begin, Index end) {
      for (Index j = 0; j < n; j++)
        for (Index i = begin; i < end; i++)
          at[size(i)] += multiply(widen(generated_element<T>(p.seed, 2, i + j * ld)), t[size(j)]);
    });
    parallel_for(k, 64, [&](Index begin, Index end) {
      for (Index j = begin; j < n; j++)
        for (Index i = begin; i < std::min(end, j + 1); i++) {
          const auto term = multiply(widen(C[i + j * ld]), t[size(j)]);
          ut[size(i)] += term, u_size[size(i)] += magnitude(term);
        }
    });
    parallel_for(m, 64, [&](Index begin, Index end) {
      for (Index j = 0; j < std::min(k, end); j++)
        for (Index i = std::max(begin, j); i < end; i++) {
          const auto l = i == j ? widen(T(1)) : widen(C[i + j * ld]);
          lut[size(i)] += multiply(l, ut[size(j)]), lu_size[size(i)] += magnitude(l) * u_size[size(j)];
        }
    });
    for (Index i = 0; i < k; i++) std::swap(at[size(i)], at[size(pivots_[size(i)] - 1)]);
    const double unit = std::numeric_limits<Real<T>>::epsilon() / 2;
    Verdict verdict{0, (is_complex<T> ? 2 * std::sqrt(2.0) : 1.0) * static_cast<double>(k + 2) * unit};
    for (Index i = 0; i < m; i++) {
      const double error = static_cast<double>(magnitude(at[size(i)] - lut[size(i)]) / lu_size[size(i)]);
      if (!(error <= verdict.error) && !std::isnan(verdict.error)) verdict.error = error;  // a NaN stays
    }
    return verdict;
  }

  bool solves_;
  mutable std::vector<int> pivots_;  ///< pivots of the latest call
};

}  // namespace

std::unique_ptr<Routine> lu(bool solves) { return std::make_unique<Lu>(solves); }

}  // namespace tessera::bench
