// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/call.hpp"
#include "common/of_type.hpp"
#include "workload/check.hpp"
#include "workload/problem.hpp"

namespace tessera::bench {

/// A problem with its scalars and operands converted to type T: the arguments of any routine of the BLAS.
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
  return common::with_type(p.type, [&]<Scalar T>(T) {
    return function(Call<T, Size>{p.op_a, p.op_b, p.side, p.uplo, p.diag, size(p.m), size(p.n), size(p.k),
                                  scalar_cast<T>(p.alpha), scalar_cast<T>(p.beta), static_cast<const T*>(o.A),
                                  size(s.A.ld), static_cast<const T*>(o.B), size(s.B.ld), static_cast<T*>(o.C),
                                  size(s.C.ld), p.seed, size(p.chain)});
  });
}

/// C = α op(A) op(B) + β C₀, or one triangle of it, or such updates with A and B exchanged in a second term.
template <Scalar T>
Equation<T> equation_of_product(const blas::Properties& routine, const Call<T>& c) {
  const Operand<T> A{.op = c.op_a, .data = c.A, .ld = c.lda}, B{.op = c.op_b, .data = c.B, .ld = c.ldb};
  if (routine.shape == blas::Shape::product) {
    std::vector<Term<T>> terms;  // one term per call of a chain, the last call first
    T beta(1);
    for (Index i = 0; i < c.chain; i++, beta *= c.beta) terms.push_back({beta * c.alpha, A, B});
    return {c.m, c.n, c.terms(c.k), std::move(terms), beta, c.before(), c.result(), c.C};
  }
  if (routine.shape == blas::Shape::triangle_product)
    return {c.n, c.n, c.terms(c.k), {{c.alpha, A, B}}, c.beta, c.before(), c.result(), c.C, c.uplo};
  // A triangle of α op(A) op(A)ᵀ, or of α op(A) op(B)ᵀ + α op(B) op(A)ᵀ. Hermitian updates use ᴴ, and ᾱ in the second
  // term. The diagonal of a Hermitian C₀ counts as real, and that of C must be. A call that changes nothing is an
  // exception: the BLAS returns at once and leaves C untouched.
  const bool two = routine.shape == blas::Shape::rank_2k, hermitian = routine.is_hermitian();
  const Operand<T> other{.op = c.op_a, .data = two ? c.B : c.A, .ld = two ? c.ldb : c.lda};
  std::vector<Term<T>> terms{{c.alpha, A, other.transposed(hermitian)}};
  if (two) terms.push_back({hermitian ? conjugated(c.alpha) : c.alpha, other, A.transposed(hermitian)});
  const Index k = c.terms(c.k);
  auto before = c.before();
  if (hermitian && (k > 0 || c.beta != T(1))) before.diagonal = Diagonal::Real;
  return {c.n, c.n, k, std::move(terms), c.beta, before, c.result(), c.C, c.uplo};
}

/// C = α A B + β C₀ or α B A + β C₀ with a symmetric or Hermitian A. With a triangular A: C = α op(A) C₀ or α C₀ op(A);
/// trsm, by its residual: 0 = op(A) C − α C₀ or C op(A) − α C₀.
template <Scalar T>
Equation<T> equation_of_sided(const blas::Properties& routine, bool solves, const Call<T>& c) {
  Operand<T> A{.data = c.A, .ld = c.lda, .uplo = c.uplo}, B{.data = c.B, .ld = c.ldb};
  const bool triangular = routine.shape == blas::Shape::triangular;
  if (triangular) {
    A.op = c.op_a, A.form = Form::Triangular;
    if (c.diag == Diag::Unit) A.diagonal = Diagonal::Ones;
    B = solves ? c.result() : c.before();
  } else if (routine.is_hermitian()) {
    A.form = Form::Hermitian, A.diagonal = Diagonal::Real;
  } else {
    A.form = Form::Symmetric;
  }
  const auto &first = c.left() ? A : B, &second = c.left() ? B : A;
  const Index k = c.left() ? c.m : c.n;
  if (solves) return {c.m, c.n, k, {{T(1), first, second}}, -c.alpha, c.before(), {.form = Form::Zero}, c.C};
  const T beta = triangular ? T{} : c.beta;
  return {c.m, c.n, c.terms(k), {{c.alpha, first, second}}, beta, c.before(), c.result(), c.C};
}

/// The equation that the result of a routine must satisfy.
template <Scalar T>
Equation<T> equation(blas::Routine which, const Call<T>& c) {
  const auto& routine = blas::properties(which);
  const bool sided = routine.shape == blas::Shape::symmetric || routine.shape == blas::Shape::triangular;
  return sided ? equation_of_sided(routine, which == blas::Routine::trsm, c) : equation_of_product(routine, c);
}

}  // namespace tessera::bench
