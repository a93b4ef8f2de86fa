// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/lapack.hpp>

#include "algorithms/cholesky.hpp"
#include "devices/cpu/host_lapack.hpp"
#include "plan/plans.hpp"
#include "workload/check.hpp"
#include "workload/critical_path.hpp"
#include "workload/factorization.hpp"
#include "workload/other_libraries.hpp"
#include "workload/spread.hpp"

namespace tessera::bench {

namespace {

using device::cpu::posv, device::cpu::potrf, tessera::posv, tessera::potrf;

/// potrf overwrites a triangle of C with its factor. posv overwrites a triangle of A with its factor, and C with A⁻¹ C,
/// where C has k right-hand sides.
class Cholesky final : public Factorization {
 public:
  explicit Cholesky(bool solves) : Factorization(solves ? "posv" : "potrf", solves) {}

  Takes takes() const override { return {.uplo = true, .k = solves(), .beta = false}; }
  bool can_be_spread() const override { return !solves(); }

  using Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const machine::Machine& machine) const override {
    return plan::plan_cholesky(machine, p.type, p.n, solves());
  }

  void run_tessera(const Problem& p, const Operands& o) const override { run<Index>(p, o); }
  void run_openblas(const Problem& p, const Operands& o) const override { run<int>(p, o); }
  std::unique_ptr<SpreadCall> spread(const Problem& p, const Operands& o) const override {
    const Index tile = plan_of(p).tile.n;
    return common::with_type(p.type, [&]<Scalar T>(T) {
      const auto factorize = [this, uplo = p.uplo](const auto& /*A*/, const auto& /*B*/, const Matrix<T>& C) {
        require_success(potrf(uplo, C).wait(), not_definite);
      };
      return spread_call<T>(shapes(p), o, {{{}, {}, {tile, tile}}}, factorize);
    });
  }
  void run_cusolver(CuSolver& solver, const Problem& p, const Operands& o) const override {
    const auto s = shapes(p);
    solver.factorize(p.type, p.uplo, p.n, address_of_matrix(o), shape_of_matrix(s).ld, solves() ? p.k : 0, o.C, s.C.ld);
  }

  /// cuSOLVERMg factorizes only lower triangles.
  bool has_cusolver_mg(const Problem& p) const override { return !solves() && p.uplo == Uplo::Lower; }
  void run_cusolver_mg(CuSolverMg& solver, const Problem& p, const Operands& o) const override {
    solver.factorize(p.type, p.n, o.C, shapes(p).C.ld);
  }

  /// From one diagonal tile to the next, trsm and syrk have tile³ / 2 multiply-adds each.
  double critical_path(const Problem& p, const Operands& /*o*/, double rate) const override {
    const auto plan = plan_of(p);
    return common::with_type(p.type, [&]<Scalar T>(T) {
      return tile_path<T>(p.n, plan.tile.n, 1, rate, [&](auto& to, const Matrix<T>& A, codelets::InfoValue* info) {
        algorithms::potrf(to, tile::LowerView(A, p.uplo, plan.grid), info);
      });
    });
  }

  /// potrf is checked by 0 = L Lᴴ − A, posv by its residual: 0 = A X − B.
  Verdict check(const Problem& p, const Operands& o) const override {
    const auto s = shapes(p);
    return common::with_type(p.type, [&]<Scalar T>(T) {
      const Operand<T> A{.ld = shape_of_matrix(s).ld,
                         .seed = p.seed,
                         .form = is_complex<T> ? Form::Hermitian : Form::Symmetric,
                         .uplo = p.uplo,
                         .diagonal = Diagonal::Real,
                         .operand = solves() ? 0 : 2,
                         .well_conditioned = p.n};
      auto* const C = static_cast<const T*>(o.C);
      if (solves()) {
        const Operand<T> X{.data = C, .ld = s.C.ld}, B{.ld = s.C.ld, .seed = p.seed};
        return check_equation<T>({p.n, p.k, p.n, {{T(1), A, X}}, T(-1), B, {.form = Form::Zero}, C});
      }
      const Operand<T> stored{.data = C, .ld = s.C.ld, .form = Form::Triangular, .uplo = p.uplo};
      const auto L = p.uplo == Uplo::Lower ? stored : stored.transposed(true),
                 adjoint = p.uplo == Uplo::Lower ? stored.transposed(true) : stored;
      return check_equation<T>({p.n, p.n, p.n, {{T(1), L, adjoint}}, T(-1), A, {.form = Form::Zero}, C, p.uplo});
    });
  }

 private:
  static constexpr const char* not_definite = "the matrix is not positive definite";

  template <typename Size>
  void run(const Problem& p, const Operands& o) const {
    Factorization::run<Size>(p, o, not_definite, [&]<Scalar T>(Size nrhs, T* A, Size lda, T* B, Size ldb) -> Index {
      const auto n = static_cast<Size>(p.n);
      return solves() ? posv(p.uplo, n, nrhs, A, lda, B, ldb) : potrf(p.uplo, n, A, lda);
    });
  }

  Shape matrix(const Problem& p) const override { return {.rows = p.n, .columns = p.n, .well_conditioned = true}; }
  double multiply_adds(const Problem& p) const override {
    const auto n = static_cast<double>(p.n);
    return n * n * n / 6 + n * n * right_hand_sides(p);
  }
  double used_elements(const Problem& p) const override {
    return static_cast<double>(p.n) * static_cast<double>(p.n + 1) / 2;
  }
};

}  // namespace

std::unique_ptr<Routine> cholesky(bool solves) { return std::make_unique<Cholesky>(solves); }

}  // namespace tessera::bench
