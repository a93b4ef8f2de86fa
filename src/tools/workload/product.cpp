// SPDX-License-Identifier: BSD-3-Clause
#include <utility>
#include <vector>

#include "plan/plans.hpp"
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// C ← α op(A) op(B) + β C
class Product final : public TypedRoutine<Product> {
 public:
  using TypedRoutine::TypedRoutine;

  algorithms::Plan plan(const detail::Machine& machine, const Problem& p) const {
    return plan::plan_product(machine, p.type, p.op_a, p.op_b, p.m, p.n, p.k);
  }

  template <Scalar T>
  Equation<T> equation(const Call<T>& c) const {
    const Operand<T> A{.op = c.op_a, .data = c.A, .ld = c.lda}, B{.op = c.op_b, .data = c.B, .ld = c.ldb};
    std::vector<Term<T>> terms;  // one term per call, the last call first
    T beta(1);
    for (Index i = 0; i < c.chain; i++, beta *= c.beta) terms.push_back({beta * c.alpha, A, B});
    return {c.m, c.n, c.terms(c.k), std::move(terms), beta, c.before(), c.result(), c.C};
  }
};

}  // namespace

std::unique_ptr<Routine> shapes::product(blas::Routine which) { return std::make_unique<Product>(which); }

}  // namespace tessera::bench
