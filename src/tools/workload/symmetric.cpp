// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plans.hpp"
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// C ← α A B + β C or α B A + β C, A symmetric or Hermitian
class Symmetric final : public TypedRoutine<Symmetric> {
 public:
  using TypedRoutine::TypedRoutine;

  algorithms::Plan plan(const detail::Machine& machine, const Problem& p) const {
    return plan::plan_symmetric(machine, p.type, p.side, p.m, p.n);
  }

  template <Scalar T>
  Equation<T> equation(const Call<T>& c) const {
    const Operand<T> A{.data = c.A,
                       .ld = c.lda,
                       .form = hermitian() ? Form::Hermitian : Form::Symmetric,
                       .uplo = c.uplo,
                       .diagonal = hermitian() ? Diagonal::Real : Diagonal::Stored};
    const Operand<T> B{.data = c.B, .ld = c.ldb};
    const auto &first = c.left() ? A : B, &second = c.left() ? B : A;
    const Index k = c.terms(c.left() ? c.m : c.n);
    return {c.m, c.n, k, {{c.alpha, first, second}}, c.beta, c.before(), c.result(), c.C};
  }
};

}  // namespace

std::unique_ptr<Routine> shapes::symmetric(blas::Routine which) { return std::make_unique<Symmetric>(which); }

}  // namespace tessera::bench
