// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plans.hpp"
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// A triangle of C ← α op(A) op(B) + β C
class TriangleProduct final : public TypedRoutine<TriangleProduct> {
 public:
  using TypedRoutine::TypedRoutine;

  Peers peers() const override { return {.openblas = false, .cublas = false}; }

  algorithms::Plan plan(const detail::Machine& machine, const Problem& p) const {
    return plan::plan_triangle(machine, p.type, plan::SumOf::Triangle, p.op_a, p.op_b, p.n, p.k);
  }

  template <Scalar T>
  Equation<T> equation(const Call<T>& c) const {
    const Operand<T> A{.op = c.op_a, .data = c.A, .ld = c.lda}, B{.op = c.op_b, .data = c.B, .ld = c.ldb};
    return {c.n, c.n, c.terms(c.k), {{c.alpha, A, B}}, c.beta, c.before(), c.result(), c.C, c.uplo};
  }
};

}  // namespace

std::unique_ptr<Routine> shapes::triangle_product(blas::Routine which) {
  return std::make_unique<TriangleProduct>(which);
}

}  // namespace tessera::bench
