// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/call.hpp"

/// The argument shapes of src/blas/routines.def, under the same names: the structures of the operands, the terms of the
/// sums, and calls.
namespace tessera::test::shapes {

#define MEMBERS_OPTION(Type, member, name, ...) x.options.member,
#define MEMBERS_SIZE(name, ...) x.size.name,
#define MEMBERS_FACTOR(Kind, name, ...) x.name,
#define MEMBERS_INPUT(name, ld, ...) x.name, x.ld,
#define MEMBERS_OUTPUT(name, ld, ...) x.C, x.ldc
#define TILES_OPTION(Type, member, name, ...) x.options.member,
#define TILES_SIZE(name, ...)
#define TILES_FACTOR(Kind, name, ...) x.name,
#define TILES_INPUT(name, ld, ...) x.name,
#define TILES_OUTPUT(name, ld, ...) x.C

/// Calls a routine of a shape with its arguments from x, which has the members of Arguments or of TileArguments.
template <blas::Shape which>
struct Calls;
#define SHAPE(name)                                                                               \
  template <>                                                                                     \
  struct Calls<blas::Shape::name> {                                                               \
    static constexpr auto shape = blas::Shape::name;                                              \
    static auto on_pointers(auto routine, const auto& x, auto... layout) {                        \
      return routine(layout..., SHAPE_##name(MEMBERS));                                           \
    }                                                                                             \
    static auto on_matrices(auto routine, const auto& x) { return routine(SHAPE_##name(TILES)); } \
  };
SHAPES(SHAPE)
#undef SHAPE

/// The op of the second factor of a symmetric or Hermitian update.
constexpr Op other_factor(Op op, bool hermitian) {
  if (op != Op::NoTrans) return Op::NoTrans;
  return hermitian ? Op::ConjTrans : Op::Trans;
}

/// C ← α op(A) op(B) + β C
struct product : Calls<blas::Shape::product> {
  static constexpr Structure a(bool) { return Structure::General; }
  static constexpr Structure c(bool) { return Structure::General; }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    return {{widen(c.alpha), {c.A, c.options.op_a}, {c.B, c.options.op_b}}};
  }
};

/// One triangle of C ← α op(A) op(B) + β C
struct triangle_product : Calls<blas::Shape::triangle_product> {
  static constexpr Structure a(bool) { return Structure::General; }
  static constexpr Structure c(bool) { return Structure::Triangular; }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    return product::terms(c);
  }
};

/// C ← α A B + β C  or  α B A + β C, A symmetric or Hermitian
struct symmetric : Calls<blas::Shape::symmetric> {
  static constexpr Structure a(bool hermitian) { return hermitian ? Structure::Hermitian : Structure::Symmetric; }
  static constexpr Structure c(bool) { return Structure::General; }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    const Values<T> A{c.A, Op::NoTrans, a(c.routine->hermitian), c.options}, B{c.B};
    return {c.options.side == Side::Left ? Term<T>{widen(c.alpha), A, B} : Term<T>{widen(c.alpha), B, A}};
  }
};

/// One triangle of C ← α op(A) op(A)ᵀ + β C, or with ᴴ
struct rank_k : Calls<blas::Shape::rank_k> {
  static constexpr Structure a(bool) { return Structure::General; }
  static constexpr Structure c(bool hermitian) { return hermitian ? Structure::Hermitian : Structure::Symmetric; }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    const Op op = c.options.op_a;
    return {{widen(c.alpha), {c.A, op}, {c.A, other_factor(op, c.routine->hermitian)}}};
  }
};

/// One triangle of C ← α op(A) op(B)ᵀ + α op(B) op(A)ᵀ + β C, or with ᴴ and ᾱ
struct rank_2k : Calls<blas::Shape::rank_2k> {
  static constexpr Structure a(bool) { return Structure::General; }
  static constexpr Structure c(bool hermitian) { return rank_k::c(hermitian); }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    const bool hermitian = c.routine->hermitian;
    const Op left = c.options.op_a, right = other_factor(left, hermitian);
    const auto alpha = widen(c.alpha);
    return {{alpha, {c.A, left}, {c.B, right}}, {hermitian ? conjugate(alpha) : alpha, {c.B, left}, {c.A, right}}};
  }
};

/// C ← α op(A) C  or  α C op(A), or with the inverse of A, A triangular
struct triangular : Calls<blas::Shape::triangular> {
  static constexpr Structure a(bool) { return Structure::Triangular; }
  static constexpr Structure c(bool) { return Structure::General; }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    const Values<T> A{c.A, c.options.op_a, Structure::Triangular, c.options}, X{c.C};
    const Wide<T> factor = c.routine->solves() ? 1 : widen(c.alpha);
    return {c.options.side == Side::Left ? Term<T>{factor, A, X} : Term<T>{factor, X, A}};
  }
};

}  // namespace tessera::test::shapes
