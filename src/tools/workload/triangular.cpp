// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plans.hpp"
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// B ← α op(A) B or B ← α B op(A), or the same with the inverse of A; A is triangular. The output B is stored as C, so
/// that the campaign restores it and the check finds its old value.
class Triangular final : public TypedRoutine<Triangular> {
 public:
  using TypedRoutine::TypedRoutine;

  /// op(A) and its inverse change the length of a vector by a factor below 3, see generated.hpp.
  double growth(const Problem& p) const override { return 3 * std::max(std::abs(p.alpha), 1 / std::abs(p.alpha)); }

  algorithms::Plan plan(const detail::Machine& machine, const Problem& p) const {
    return plan::plan_triangular(machine, p.type, p.side, p.op_a, solves(), p.m, p.n);
  }

  /// trmm: B = α op(A) B₀. trsm, by its residual: 0 = op(A) B − α B₀.
  template <Scalar T>
  Equation<T> equation(const Call<T>& c) const {
    const Operand<T> A{.op = c.op_a,
                       .data = c.A,
                       .ld = c.lda,
                       .form = Form::Triangular,
                       .uplo = c.uplo,
                       .diagonal = c.diag == Diag::Unit ? Diagonal::Ones : Diagonal::Stored};
    const auto B = solves() ? c.result() : c.before();
    const Index k = c.left() ? c.m : c.n;
    const auto &first = c.left() ? A : B, &second = c.left() ? B : A;
    if (solves()) return {c.m, c.n, k, {{T(1), first, second}}, -c.alpha, c.before(), {.form = Form::Zero}, c.C};
    return {c.m, c.n, c.terms(k), {{c.alpha, first, second}}, T{}, c.before(), c.result(), c.C};
  }

 private:
  bool solves() const { return name() == "trsm"; }
};

}  // namespace

std::unique_ptr<Routine> shapes::triangular(blas::Routine which) { return std::make_unique<Triangular>(which); }

}  // namespace tessera::bench
