// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/lapack.hpp>

#include "algorithms/lu_nopiv.hpp"
#include "algorithms/run.hpp"
#include "plan/plans.hpp"
#include "workload/critical_path.hpp"
#include "workload/factorization.hpp"
#include "workload/other_libraries.hpp"
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// getrf_nopiv overwrites C (n×n) with its factors. C is well conditioned and needs no pivoting, because its Hermitian
/// part is positive definite and dominates the rest.
class LuNopiv final : public Factorization {
 public:
  LuNopiv() : Factorization("getrf_nopiv", false) {}

  Takes takes() const override { return {.beta = false}; }
  /// OpenBLAS always pivots.
  Peers peers() const override { return {.openblas = false, .cublas = false, .cusolver = true}; }

  using Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const detail::Machine& machine) const override {
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
    return tools::with_type(p.type, [&]<Scalar T>(T) {
      return tile_path<T>(p.n, plan.tile.n, 1.5, rate, [&](const Matrix<T>& A, codelets::InfoValue* info, int count) {
        const auto& session = detail::MatrixAccess::session(A);
        const tile::FullView tiles(A, plan.grid);
        sinks::Submitter submitter(session, A);
        algorithms::submit(submitter, [&](auto& to) {
          for (int i = 0; i < count; i++) algorithms::getrf_nopiv(to, tiles, Uplo::Lower, info, {});
        });
      });
    });
  }

  void run_openblas(const Problem& /*p*/, const Operands& /*o*/) const override {}
  void run_cusolver(CuSolver& solver, const Problem& p, const Operands& o) const override {
    solver.factorize_with_pivots(p.type, p.n, p.n, o.C, shapes(p).C.ld, nullptr, 0, nullptr, 1);
  }

  /// 0 = L U − A
  Verdict check(const Problem& p, const Operands& o) const override {
    return tools::with_type(p.type, [&]<Scalar T>(T) {
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

}  // namespace tessera::bench
