// SPDX-License-Identifier: BSD-3-Clause
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// A triangle of C ← α op(A) op(B) + β C
class TriangleProduct final : public TypedRoutine<TriangleProduct> {
 public:
  using TypedRoutine::TypedRoutine;

  Takes takes() const override { return {.trans_a = true, .trans_b = true, .uplo = true, .k = true}; }
  Peers peers() const override { return {.openblas = false, .cublasxt = false}; }

  Volume volume(const Problem& p) const override {
    return {half(p.n) * static_cast<double>(p.k), 2 * count(p.n, p.k), half(p.n)};
  }

  Shapes shapes(const Problem& p) const override {
    return {stored(p.op_a, p.n, p.k, p.ld_pad), stored(p.op_b, p.k, p.n, p.ld_pad), stored(p.n, p.n, p.ld_pad)};
  }

  template <Scalar T>
  detail::Plan plan(const detail::Machine& machine, const Problem& p) const {
    return detail::plan_triangle<T>(machine, p.uplo, p.op_a, p.op_b, p.n, p.k, detail::TriangleOf::Product);
  }

  void call(const auto& library, const auto& c) const {
    library.gemmt(c.uplo, c.op_a, c.op_b, c.n, c.k, c.alpha, c.A, c.lda, c.B, c.ldb, c.beta, c.C, c.ldc);
  }

  template <Scalar T>
  Equation<T> equation(const Call<T>& c) const {
    const Operand<T> A{.op = c.op_a, .data = c.A, .ld = c.lda}, B{.op = c.op_b, .data = c.B, .ld = c.ldb};
    return {c.n, c.n, c.terms(c.k), {{c.alpha, A, B}}, c.beta, c.before(), c.result(), c.C, c.uplo};
  }
};

}  // namespace

std::unique_ptr<Routine> shapes::triangle_product(Entry entry) {
  return std::make_unique<TriangleProduct>(std::move(entry));
}

}  // namespace tessera::bench
