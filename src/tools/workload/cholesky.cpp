// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "algorithms/cholesky.hpp"
#include "algorithms/run.hpp"
#include "codelets/host_lapack.hpp"
#include "plan/plans.hpp"
#include "workload/critical_path.hpp"
#include "workload/other_libraries.hpp"
#include "workload/spread.hpp"
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// potrf overwrites a triangle of C with its factor. posv overwrites a triangle of A with its factor, and C with A⁻¹ C,
/// where C has k right-hand sides.
class Cholesky final : public Routine {
 public:
  explicit Cholesky(bool solves) : Routine(solves ? "posv" : "potrf"), solves_(solves) {}

  Takes takes() const override { return {.uplo = true, .k = solves_, .beta = false}; }
  Peers peers() const override { return {.openblas = true, .cublas = false, .cusolver = true}; }
  bool can_be_spread() const override { return !solves_; }

  double flops(const Problem& p) const override {
    const auto n = static_cast<double>(p.n), nrhs = solves_ ? static_cast<double>(p.k) : 0;
    return tools::with_type(p.type,
                            [&]<Scalar T>(T) { return flops_per_multiply_add<T> * (n * n * n / 6 + n * n * nrhs); });
  }

  /// The traffic of the triangle and of the right-hand sides, in both directions.
  blas::Traffic traffic(const Problem& p) const override {
    const auto n = static_cast<double>(p.n), nrhs = solves_ ? static_cast<double>(p.k) : 0;
    const double bytes = tools::with_type(
        p.type, [&]<Scalar T>(T) { return (n * (n + 1) / 2 + n * nrhs) * static_cast<double>(sizeof(T)); });
    return {bytes, bytes};
  }

  Shapes shapes(const Problem& p) const override {
    const auto shape = [&](Index columns) -> Shape { return {p.n, columns, std::max<Index>(1, p.n) + p.ld_pad}; };
    auto factor = shape(p.n);
    factor.well_conditioned = true;
    if (!solves_) return {{}, {}, factor};
    factor.overwritten = true;
    return {factor, {}, shape(p.k)};
  }

  double growth(const Problem& /*p*/) const override { return std::numeric_limits<double>::infinity(); }

  using Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const detail::Machine& machine) const override {
    return plan::plan_cholesky(machine, p.type, p.n);
  }
  bool is_planned_whole() const override { return !solves_; }

  void run_tessera(const Problem& p, const Operands& o) const override {
    run<Index>(p, o, [&]<Scalar T>(Index nrhs, T* A, Index lda, T* B, Index ldb) {
      return solves_ ? posv(p.uplo, p.n, nrhs, A, lda, B, ldb) : potrf(p.uplo, p.n, A, lda);
    });
  }
  std::unique_ptr<SpreadCall> spread(const Problem& p, const Operands& o) const override {
    const Index tile = plan_of(p).tile.n;
    return tools::with_type(p.type, [&]<Scalar T>(T) {
      const auto factorize = [this, uplo = p.uplo](const auto& /*A*/, const auto& /*B*/, const Matrix<T>& C) {
        require_success(potrf(uplo, C).wait());
      };
      return spread_call<T>(shapes(p), o, {{{}, {}, {tile, tile}}}, factorize);
    });
  }
  void run_openblas(const Problem& p, const Operands& o) const override {
    run<int>(p, o, [&]<Scalar T>(int nrhs, T* A, int lda, T* B, int ldb) {
      const int n = static_cast<int>(p.n);
      return solves_ ? host::posv(p.uplo, n, nrhs, A, lda, B, ldb) : host::potrf(p.uplo, n, A, lda);
    });
  }
  void run_cusolver([[maybe_unused]] CuSolver& solver, [[maybe_unused]] const Problem& p,
                    [[maybe_unused]] const Operands& o) const override {
#ifdef TESSERA_WITH_CUDA
    const auto s = shapes(p);
    solver.factorize(p.type, p.uplo, p.n, solves_ ? o.A : o.C, factor(s).ld, solves_ ? p.k : 0, o.C, s.C.ld);
#endif
  }

  /// cuSOLVERMg factorizes only lower triangles.
  bool has_cusolver_mg(const Problem& p) const override { return !solves_ && p.uplo == Uplo::Lower; }
  void run_cusolver_mg([[maybe_unused]] CuSolverMg& solver, [[maybe_unused]] const Problem& p,
                       [[maybe_unused]] const Operands& o) const override {
#ifdef TESSERA_WITH_CUDA
    solver.factorize(p.type, p.n, o.C, shapes(p).C.ld);
#endif
  }

  /// From one diagonal tile to the next, trsm and syrk have tile³ / 2 multiply-adds each.
  double critical_path(const Problem& p, const Operands& /*o*/, double rate) const override {
    const auto plan = plan_of(p);
    return tools::with_type(p.type, [&]<Scalar T>(T) {
      return tile_path<T>(p.n, plan.tile.n, 1, rate, [&](const Matrix<T>& A, codelets::InfoValue* info, int count) {
        const auto& session = detail::MatrixAccess::session(A);
        const tile::LowerView tiles(A, p.uplo, plan.grid);
        sinks::Submitter submitter(session, A);
        algorithms::submit(submitter, [&](auto& to) {
          for (int i = 0; i < count; i++) algorithms::potrf(to, tiles, info);
        });
      });
    });
  }

  /// potrf is checked by 0 = L Lᴴ − A, posv by its residual: 0 = A X − B.
  Verdict check(const Problem& p, const Operands& o) const override {
    const auto s = shapes(p);
    return tools::with_type(p.type, [&]<Scalar T>(T) {
      const Operand<T> A{.ld = factor(s).ld,
                         .seed = p.seed,
                         .form = is_complex<T> ? Form::Hermitian : Form::Symmetric,
                         .uplo = p.uplo,
                         .diagonal = Diagonal::Real,
                         .operand = solves_ ? 0 : 2,
                         .well_conditioned = p.n};
      auto* const C = static_cast<const T*>(o.C);
      if (solves_) {
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
  const Shape& factor(const Shapes& s) const { return solves_ ? s.A : s.C; }

  /// @param solve  (nrhs, A, lda, B, ldb) → info
  template <typename Size, typename Solve>
  void run(const Problem& p, const Operands& o, Solve solve) const {
    const auto s = shapes(p);
    const auto info = tools::with_type(p.type, [&]<Scalar T>(T) -> Index {
      return solve(static_cast<Size>(p.k), static_cast<T*>(solves_ ? o.A : o.C), static_cast<Size>(factor(s).ld),
                   static_cast<T*>(o.C), static_cast<Size>(s.C.ld));
    });
    require_success(info);
  }

  void require_success(Index info) const {
    if (info != 0) throw RuntimeError(name() + ": the matrix is not positive definite, info = " + std::to_string(info));
  }

  bool solves_;
};

}  // namespace

std::unique_ptr<Routine> cholesky(bool solves) { return std::make_unique<Cholesky>(solves); }

}  // namespace tessera::bench
