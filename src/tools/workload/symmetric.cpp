// SPDX-License-Identifier: BSD-3-Clause
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// C ← α A B + β C or α B A + β C, A symmetric or Hermitian
class Symmetric final : public TypedRoutine<Symmetric> {
 public:
  using TypedRoutine::TypedRoutine;

  Takes takes() const override { return {.side = true, .uplo = true, .m = true}; }

  Volume volume(const Problem& p) const override {
    const double result = count(p.m, p.n);
    return {result * static_cast<double>(order(p)), half(order(p)) + result, result};
  }

  Shapes shapes(const Problem& p) const override {
    return {stored(order(p), order(p), p.ld_pad), stored(p.m, p.n, p.ld_pad), stored(p.m, p.n, p.ld_pad)};
  }

  template <Scalar T>
  detail::Plan plan(const detail::Machine& machine, const Problem& p) const {
    return detail::plan_symmetric<T>(machine, p.side, p.m, p.n);
  }

  template <Scalar T, typename Size>
  void call(const auto& library, const Call<T, Size>& c) const {
    const auto with = [&](auto routine) {
      routine(c.side, c.uplo, c.m, c.n, c.alpha, c.A, c.lda, c.B, c.ldb, c.beta, c.C, c.ldc);
    };
    if constexpr (is_complex<T>)
      if (hermitian()) return with([&](auto... x) { library.hemm(x...); });
    with([&](auto... x) { library.symm(x...); });
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

std::unique_ptr<Routine> shapes::symmetric(Entry entry) { return std::make_unique<Symmetric>(std::move(entry)); }

}  // namespace tessera::bench
