// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/plan.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "shared/types.hpp"
#include "workload/check.hpp"
#include "workload/routines.hpp"

/// The common part of the classes by argument shape.
namespace tessera::bench {

/// A problem with its scalars and operands converted to type T: the arguments of any routine.
template <Scalar T, typename Size = Index>
struct Call {
  Op op_a, op_b;
  Side side;
  Uplo uplo;
  Diag diag;
  Size m, n, k;
  T alpha, beta;
  const T* A;
  Size lda;
  const T* B;
  Size ldb;
  T* C;
  Size ldc;
  std::uint64_t seed;
  Size chain;

  bool left() const { return side == Side::Left; }
  /// The number of terms; 0 if α = 0.
  Size terms(Size all) const { return alpha == T{} ? 0 : all; }
  Operand<T> before() const { return {.ld = ldc, .seed = seed}; }
  Operand<T> result() const { return {.data = C, .ld = ldc}; }
};

/// Calls the function with the problem's arguments, converted to its type.
template <typename Size, typename Function>
auto with_typed(const Problem& p, const Shapes& s, const Operands& o, Function function) {
  const auto size = [](Index i) { return static_cast<Size>(i); };
  return tools::with_type(p.type, [&]<Scalar T>(T) {
    return function(Call<T, Size>{p.op_a, p.op_b, p.side, p.uplo, p.diag, size(p.m), size(p.n), size(p.k),
                                  tools::scalar_cast<T>(p.alpha), tools::scalar_cast<T>(p.beta),
                                  static_cast<const T*>(o.A), size(s.A.ld), static_cast<const T*>(o.B), size(s.B.ld),
                                  static_cast<T*>(o.C), size(s.C.ld), p.seed, size(p.chain)});
  });
}

/// A routine. `Derived` provides:
///   Equation<T> equation(const Call<T>&)                       the equation that the result must satisfy, for every T
///   algorithms::Plan plan(const Machine&, const Problem&)          the plan that Tessera makes
template <typename Derived>
class TypedRoutine : public BlasRoutine {
 public:
  using BlasRoutine::BlasRoutine;

  using Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const detail::Machine& machine) const final {
    return derived().plan(machine, p);
  }

  Verdict check(const Problem& p, const Operands& o) const final {
    return with_typed<Index>(p, shapes(p), o,
                             [&]<Scalar T>(const Call<T>& c) { return check_equation(derived().equation(c)); });
  }

 private:
  const Derived& derived() const { return static_cast<const Derived&>(*this); }
};

}  // namespace tessera::bench
