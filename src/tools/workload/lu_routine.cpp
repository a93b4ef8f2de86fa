// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>
#include <vector>

#include <tessera/lapack.hpp>

#include "algorithms/lu_nopiv.hpp"
#include "devices/cpu/host_lapack.hpp"
#include "plan/plans.hpp"
#include "workload/check.hpp"
#include "workload/critical_path.hpp"
#include "workload/factorization.hpp"
#include "workload/other_libraries.hpp"
#include "workload/spread.hpp"

namespace tessera::bench {

namespace {

using device::cpu::gesv, device::cpu::getrf, tessera::gesv, tessera::getrf;

/// getrf overwrites C (m×n) with its factors. gesv overwrites A (n×n) with its factors, and C with A⁻¹ C, where C has k
/// right-hand sides.
class Lu final : public Factorization {
 public:
  explicit Lu(bool solves) : Factorization(solves ? "gesv" : "getrf", solves) {}

  Takes takes() const override { return {.m = !solves(), .k = solves(), .beta = false}; }
  bool can_be_spread() const override { return !solves(); }
  bool factorizes_panels() const override { return true; }
  bool has_panels_for_cores() const override { return true; }

  using Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const machine::Machine& machine) const override {
    return plan::plan_getrf(machine, p.type, rows(p), p.n);
  }

  void run_tessera(const Problem& p, const Operands& o) const override { run<Index>(p, o); }
  void run_openblas(const Problem& p, const Operands& o) const override { run<int>(p, o); }
  std::unique_ptr<SpreadCall> spread(const Problem& p, const Operands& o) const override {
    const auto tile = plan_of(p).tile;
    return common::with_type(p.type, [&]<Scalar T>(T) {
      const auto factorize = [this](const auto& /*A*/, const auto& /*B*/, const Matrix<T>& C) {
        const auto pivots = getrf(C).pivots.wait();
        pivots_.assign(pivots.begin(), pivots.end());
      };
      return spread_call<T>(shapes(p), o, {{{}, {}, {tile.m, tile.n}}}, factorize);
    });
  }
  void run_cusolver(CuSolver& solver, const Problem& p, const Operands& o) const override {
    const auto s = shapes(p);
    make_room_for_pivots(p);
    solver.factorize_with_pivots(p.type, rows(p), p.n, address_of_matrix(o), shape_of_matrix(s).ld, pivots_.data(),
                                 solves() ? p.k : 0, o.C, s.C.ld);
  }

  bool has_cusolver_mg(const Problem& /*p*/) const override { return !solves(); }
  void run_cusolver_mg(CuSolverMg& solver, const Problem& p, const Operands& o) const override {
    make_room_for_pivots(p);
    solver.factorize_with_pivots(p.type, p.m, p.n, o.C, shapes(p).C.ld, pivots_.data());
  }

  double critical_path(const Problem& p, const Operands& o, double rate) const override {
    const auto s = shapes(p);
    const auto tile = plan_of(p).tile;
    return common::with_type(p.type, [&]<Scalar T>(T) {
      return lu_path<T>(rows(p), p.n, static_cast<T*>(address_of_matrix(o)), shape_of_matrix(s).ld, {tile.m, tile.n},
                        rate);
    });
  }

  /// gesv is checked by its residual: 0 = A X − B. For getrf, the factors are multiplied with a vector.
  Verdict check(const Problem& p, const Operands& o) const override {
    return common::with_type(p.type, [&]<Scalar T>(T) {
      const auto s = shapes(p);
      auto* const C = static_cast<const T*>(o.C);
      if (!solves()) return check_factors<T>(p, C, s.C.ld);
      const Operand<T> A{.ld = s.A.ld, .seed = p.seed, .operand = 0}, X{.data = C, .ld = s.C.ld},
          B{.ld = s.C.ld, .seed = p.seed};
      return check_equation<T>({p.n, p.k, p.n, {{T(1), A, X}}, T(-1), B, {.form = Form::Zero}, C});
    });
  }

 private:
  static constexpr const char* is_singular = "the matrix is singular";

  Index rows(const Problem& p) const { return solves() ? p.n : p.m; }

  Shape matrix(const Problem& p) const override { return {.rows = rows(p), .columns = p.n}; }
  double multiply_adds(const Problem& p) const override {
    const auto n = static_cast<double>(p.n), k = static_cast<double>(std::min(rows(p), p.n)),
               m = static_cast<double>(rows(p));
    return m * n * k - (m + n) * k * k / 2 + k * k * k / 3 + n * n * right_hand_sides(p);
  }

  void make_room_for_pivots(const Problem& p) const {
    pivots_.resize(static_cast<std::size_t>(std::min(rows(p), p.n)));
  }
  template <typename Size>
  void run(const Problem& p, const Operands& o) const {
    make_room_for_pivots(p);
    Factorization::run<Size>(p, o, is_singular, [&]<Scalar T>(Size nrhs, T* A, Size lda, T* B, Size ldb) -> Index {
      const auto m = static_cast<Size>(p.m), n = static_cast<Size>(p.n);
      return solves() ? gesv(n, nrhs, A, lda, pivots_.data(), B, ldb) : getrf(m, n, A, lda, pivots_.data());
    });
  }

  /// Compares P A t with L U t for a random vector t. The error of a row is relative to |L| |U| |t|, which also bounds
  /// the rounding errors.
  template <Scalar T>
  Verdict check_factors(const Problem& p, const T* C, Index ld) const {
    const Index k = std::min(p.m, p.n);
    const Operand<T> A{.ld = ld, .seed = p.seed},
        L{.data = C, .ld = ld, .form = Form::Triangular, .uplo = Uplo::Lower, .diagonal = Diagonal::Ones},
        U{.data = C, .ld = ld, .form = Form::Triangular, .uplo = Uplo::Upper};
    const auto t = random_vector<T>(p.n, p.seed);
    auto expected = apply<T>(A, p.m, t).x;
    const auto result = apply<T>(L, p.m, apply<T>(U, k, t));
    for (std::size_t i = 0; i < pivots_.size(); i++)
      std::swap(expected[i], expected[static_cast<std::size_t>(pivots_[i] - 1)]);
    Verdict verdict{0, error_bound<T>(k)};
    for (std::size_t i = 0; i < expected.size(); i++)
      verdict.add(
          relative(static_cast<double>(magnitude(expected[i] - result.x[i])), static_cast<double>(result.s[i])));
    return verdict;
  }

  mutable std::vector<int> pivots_;  ///< pivots of the latest call
};

/// getrf_nopiv overwrites C (n×n) with its factors. C is well conditioned and needs no pivoting, because its Hermitian
/// part is positive definite and dominates the rest.
class LuNopiv final : public Factorization {
 public:
  LuNopiv() : Factorization("getrf_nopiv", false) {}

  Takes takes() const override { return {.beta = false}; }
  /// OpenBLAS always pivots.
  Peers peers() const override { return {.openblas = false, .cublas = false}; }

  using Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const machine::Machine& machine) const override {
    return plan::plan_lu_nopiv(machine, p.type, p.n, p.n);
  }

  void run_tessera(const Problem& p, const Operands& o) const override {
    run<Index>(p, o, "a pivot is zero", [&]<Scalar T>(Index /*nrhs*/, T* A, Index lda, T* /*B*/, Index /*ldb*/) {
      return getrf_nopiv(p.n, p.n, A, lda);
    });
  }
  /// From one diagonal tile to the next, trsm has tile³ / 2 multiply-adds, and gemm tile³.
  double critical_path(const Problem& p, const Operands& /*o*/, double rate) const override {
    const auto plan = plan_of(p);
    return common::with_type(p.type, [&]<Scalar T>(T) {
      return tile_path<T>(p.n, plan.tile.n, 1.5, rate, [&](auto& to, const Matrix<T>& A, codelets::InfoValue* info) {
        algorithms::getrf_nopiv(to, tile::FullView(A, plan.grid), Uplo::Lower, info, {});
      });
    });
  }

  void run_cusolver(CuSolver& solver, const Problem& p, const Operands& o) const override {
    solver.factorize_with_pivots(p.type, p.n, p.n, o.C, shapes(p).C.ld, nullptr, 0, nullptr, 1);
  }

  /// 0 = L U − A
  Verdict check(const Problem& p, const Operands& o) const override {
    return common::with_type(p.type, [&]<Scalar T>(T) {
      const Index ld = shapes(p).C.ld;
      auto* const C = static_cast<const T*>(o.C);
      const Operand<T> A{.ld = ld, .seed = p.seed, .operand = 2, .well_conditioned = p.n},
          L{.data = C, .ld = ld, .form = Form::Triangular, .uplo = Uplo::Lower, .diagonal = Diagonal::Ones},
          U{.data = C, .ld = ld, .form = Form::Triangular, .uplo = Uplo::Upper};
      return check_equation<T>({p.n, p.n, p.n, {{T(1), L, U}}, T(-1), A, {.form = Form::Zero}, C});
    });
  }

 private:
  Shape matrix(const Problem& p) const override { return {.rows = p.n, .columns = p.n, .well_conditioned = true}; }
  double multiply_adds(const Problem& p) const override { return std::pow(static_cast<double>(p.n), 3) / 3; }
};

}  // namespace

std::unique_ptr<Routine> lu_nopiv() { return std::make_unique<LuNopiv>(); }
std::unique_ptr<Routine> lu(bool solves) { return std::make_unique<Lu>(solves); }

}  // namespace tessera::bench
