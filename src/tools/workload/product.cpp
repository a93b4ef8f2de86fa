// SPDX-License-Identifier: BSD-3-Clause
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// C ← α op(A) op(B) + β C
class Product final : public TypedRoutine<Product> {
 public:
  using TypedRoutine::TypedRoutine;

  Takes takes() const override { return {.trans_a = true, .trans_b = true, .m = true, .k = true}; }

  Volume volume(const Problem& p) const override {
    return {count(p.m, p.n) * static_cast<double>(p.k), count(p.m, p.k) + count(p.k, p.n), count(p.m, p.n)};
  }

  Shapes shapes(const Problem& p) const override {
    return {stored(p.op_a, p.m, p.k, p.ld_pad), stored(p.op_b, p.k, p.n, p.ld_pad), stored(p.m, p.n, p.ld_pad)};
  }

  template <Scalar T>
  detail::Plan plan(const detail::Machine& machine, const Problem& p) const {
    return detail::plan_product<T>(machine, p.op_a, p.op_b, p.m, p.n, p.k);
  }

  void call(const auto& library, const auto& c) const {
    library.gemm(c.op_a, c.op_b, c.m, c.n, c.k, c.alpha, c.A, c.lda, c.B, c.ldb, c.beta, c.C, c.ldc);
  }

  template <Scalar T>
  Equation<T> equation(const Call<T>& c) const {
    const Operand<T> A{.op = c.op_a, .data = c.A, .ld = c.lda}, B{.op = c.op_b, .data = c.B, .ld = c.ldb};
    return {c.m, c.n, c.terms(c.k), {{c.alpha, A, B}}, c.beta, c.before(), c.result(), c.C};
  }
};

}  // namespace

std::unique_ptr<Routine> shapes::product(Entry entry) { return std::make_unique<Product>(std::move(entry)); }

}  // namespace tessera::bench
