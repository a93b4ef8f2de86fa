// SPDX-License-Identifier: BSD-3-Clause
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// B ← α op(A) B or α B op(A), or the same with the inverse of A; A is triangular. B is an output and is therefore
/// stored as C, where the campaign restores it and the check finds its old value.
class Triangular final : public TypedRoutine<Triangular> {
 public:
  using TypedRoutine::TypedRoutine;

  Takes takes() const override {
    return {.trans_a = true, .side = true, .uplo = true, .diag = true, .m = true, .beta = false};
  }

  Volume volume(const Problem& p) const override {
    const double result = count(p.m, p.n);
    return {result * static_cast<double>(order(p)) / 2, half(order(p)), result};
  }

  Shapes shapes(const Problem& p) const override {
    auto A = stored(order(p), order(p), p.ld_pad);
    A.well_conditioned = true;
    return {A, {}, stored(p.m, p.n, p.ld_pad)};
  }

  /// op(A) and its inverse change the length of a vector by a factor below 3, see generated.hpp.
  double growth(const Problem& p) const override { return 3 * std::max(std::abs(p.alpha), 1 / std::abs(p.alpha)); }

  template <Scalar T>
  detail::Plan plan(const detail::Machine& machine, const Problem& p) const {
    return detail::plan_triangular<T>(machine, p.side, solves(), p.m, p.n);
  }

  void call(const auto& library, const auto& c) const {
    const auto with = [&](auto routine) {
      routine(c.side, c.uplo, c.op_a, c.diag, c.m, c.n, c.alpha, c.A, c.lda, c.C, c.ldc);
    };
    if (solves()) with([&](auto... x) { library.trsm(x...); });
    else with([&](auto... x) { library.trmm(x...); });
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

std::unique_ptr<Routine> shapes::triangular(Entry entry) { return std::make_unique<Triangular>(std::move(entry)); }

}  // namespace tessera::bench
