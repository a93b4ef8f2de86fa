// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/mirror.hpp"
#include "workload/typed_routine.hpp"

namespace tessera::bench {

/// The common part of the symmetric and Hermitian updates of a triangle. They add `Derived::inputs` products.
template <typename Derived>
class RankUpdate : public TypedRoutine<Derived> {
 public:
  using TypedRoutine<Derived>::TypedRoutine;

  Takes takes() const final { return {.trans_a = true, .uplo = true, .k = true}; }

  template <Scalar T>
  detail::Plan plan(const detail::Machine& machine, const Problem& p) const {
    const auto what = Derived::inputs == 2 ? detail::TriangleOf::Rank2k : detail::TriangleOf::RankK;
    return detail::plan_triangle<T>(machine, p.uplo, p.op_a, codelets::other_factor<false>(p.op_a), p.n, p.k, what);
  }

  Volume volume(const Problem& p) const final {
    const double inputs = Derived::inputs * count(p.n, p.k);
    return {inputs * static_cast<double>(p.n + 1) / 2, inputs, half(p.n)};
  }

  Shapes shapes(const Problem& p) const final {
    const auto input = stored(p.op_a, p.n, p.k, p.ld_pad);
    return {input, Derived::inputs == 2 ? input : Shape{}, stored(p.n, p.n, p.ld_pad)};
  }

 protected:
  using Routine::hermitian;

  arguments::Ops ops(char type) const final {
    const bool real = type == 's' || type == 'd';
    return real ? arguments::Ops::All : hermitian() ? arguments::Ops::Hermitian : arguments::Ops::Symmetric;
  }

  /// The triangle of C = Σ terms + β C₀. The diagonal of a Hermitian C₀ is taken as real, and that of C must be real.
  /// The exception is a call that changes nothing: the BLAS then returns at once and leaves C untouched.
  template <Scalar T>
  Equation<T> update(const Call<T>& c, std::vector<Term<T>> terms) const {
    const Index k = c.terms(c.k);
    auto before = c.before();
    if (hermitian() && (k > 0 || c.beta != T(1))) before.diagonal = Diagonal::Real;
    return {c.n, c.n, k, std::move(terms), c.beta, before, c.result(), c.C, c.uplo};
  }
};

}  // namespace tessera::bench
