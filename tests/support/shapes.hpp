// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/call.hpp"

/// The argument shapes of src/routines/routines.def, by their names there: the argument list, the operands' sizes, and
/// the terms of the sums.
namespace tessera::test::shapes {

/// The op of the second factor of a symmetric or Hermitian update.
constexpr Op turned(Op op, bool hermitian) {
  if (op != Op::NoTrans) return Op::NoTrans;
  return hermitian ? Op::ConjTrans : Op::Trans;
}

/// C ← α op(A) op(B) + β C
struct product {
  static constexpr std::array arguments{"op_a", "op_b", "m",   "n",    "k", "alpha", "A",
                                        "lda",  "B",    "ldb", "beta", "C", "ldc"};
  static constexpr Structure a(bool) { return Structure::General; }
  static constexpr Structure c(bool) { return Structure::General; }
  static Size size_a(const Options& o, const Extent& e) { return stored(o.op_a, e.m, e.k); }
  static Size size_b(const Options& o, const Extent& e) { return stored(o.op_b, e.k, e.n); }
  static Size size_c(const Options&, const Extent& e) { return {e.m, e.n}; }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    return {{widen(c.alpha), {c.A, c.options.op_a}, {c.B, c.options.op_b}}};
  }
  template <Scalar T>
  static void call(auto routine, const Arguments<T>& arguments, auto... layout) {
    const auto& [o, e, alpha, A, lda, B, ldb, beta, C, ldc] = arguments;
    routine(layout..., o.op_a, o.op_b, e.m, e.n, e.k, alpha, A, lda, B, ldb, beta, C, ldc);
  }
  template <Scalar T>
  static void call(auto routine, const TileArguments<T>& arguments) {
    const auto& [o, alpha, A, B, beta, C] = arguments;
    routine(o.op_a, o.op_b, alpha, A, B, beta, C);
  }
};

/// One triangle of C ← α op(A) op(B) + β C
struct triangle_product {
  static constexpr std::array arguments{"uplo", "op_a", "op_b", "n",    "k", "alpha", "A",
                                        "lda",  "B",    "ldb",  "beta", "C", "ldc"};
  static constexpr Structure a(bool) { return Structure::General; }
  static constexpr Structure c(bool) { return Structure::Triangular; }
  static Size size_a(const Options& o, const Extent& e) { return stored(o.op_a, e.n, e.k); }
  static Size size_b(const Options& o, const Extent& e) { return stored(o.op_b, e.k, e.n); }
  static Size size_c(const Options&, const Extent& e) { return {e.n, e.n}; }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    return product::terms(c);
  }
  template <Scalar T>
  static void call(auto routine, const Arguments<T>& arguments, auto... layout) {
    const auto& [o, e, alpha, A, lda, B, ldb, beta, C, ldc] = arguments;
    routine(layout..., o.uplo, o.op_a, o.op_b, e.n, e.k, alpha, A, lda, B, ldb, beta, C, ldc);
  }
  template <Scalar T>
  static void call(auto routine, const TileArguments<T>& arguments) {
    const auto& [o, alpha, A, B, beta, C] = arguments;
    routine(o.uplo, o.op_a, o.op_b, alpha, A, B, beta, C);
  }
};

/// C ← α A B + β C  or  α B A + β C, A symmetric or Hermitian
struct symmetric {
  static constexpr std::array arguments{"side", "uplo", "m", "n", "alpha", "A", "lda", "B", "ldb", "beta", "C", "ldc"};
  static constexpr Structure a(bool hermitian) { return hermitian ? Structure::Hermitian : Structure::Symmetric; }
  static constexpr Structure c(bool) { return Structure::General; }
  static Size size_a(const Options& o, const Extent& e) {
    return o.side == Side::Left ? Size{e.m, e.m} : Size{e.n, e.n};
  }
  static Size size_b(const Options&, const Extent& e) { return {e.m, e.n}; }
  static Size size_c(const Options&, const Extent& e) { return {e.m, e.n}; }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    const Seen<T> A{c.A, Op::NoTrans, a(c.routine->hermitian), c.options}, B{c.B};
    return {c.options.side == Side::Left ? Term<T>{widen(c.alpha), A, B} : Term<T>{widen(c.alpha), B, A}};
  }
  template <Scalar T>
  static void call(auto routine, const Arguments<T>& arguments, auto... layout) {
    const auto& [o, e, alpha, A, lda, B, ldb, beta, C, ldc] = arguments;
    routine(layout..., o.side, o.uplo, e.m, e.n, alpha, A, lda, B, ldb, beta, C, ldc);
  }
  template <Scalar T>
  static void call(auto routine, const TileArguments<T>& arguments) {
    const auto& [o, alpha, A, B, beta, C] = arguments;
    routine(o.side, o.uplo, alpha, A, B, beta, C);
  }
};

/// One triangle of C ← α op(A) op(A)ᵀ + β C, or with ᴴ
struct rank_k {
  static constexpr std::array arguments{"uplo", "op", "n", "k", "alpha", "A", "lda", "beta", "C", "ldc"};
  static constexpr Structure a(bool) { return Structure::General; }
  static constexpr Structure c(bool hermitian) { return hermitian ? Structure::Hermitian : Structure::Symmetric; }
  static Size size_a(const Options& o, const Extent& e) { return stored(o.op_a, e.n, e.k); }
  static Size size_b(const Options&, const Extent&) { return {}; }
  static Size size_c(const Options&, const Extent& e) { return {e.n, e.n}; }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    const Op op = c.options.op_a;
    return {{widen(c.alpha), {c.A, op}, {c.A, turned(op, c.routine->hermitian)}}};
  }
  template <Scalar T>
  static void call(auto routine, const Arguments<T>& arguments, auto... layout) {
    const auto& [o, e, alpha, A, lda, B, ldb, beta, C, ldc] = arguments;
    routine(layout..., o.uplo, o.op_a, e.n, e.k, alpha, A, lda, beta, C, ldc);
  }
  template <Scalar T>
  static void call(auto routine, const TileArguments<T>& arguments) {
    const auto& [o, alpha, A, B, beta, C] = arguments;
    routine(o.uplo, o.op_a, alpha, A, beta, C);
  }
};

/// One triangle of C ← α op(A) op(B)ᵀ + α op(B) op(A)ᵀ + β C, or with ᴴ and ᾱ
struct rank_2k {
  static constexpr std::array arguments{"uplo", "op", "n", "k", "alpha", "A", "lda", "B", "ldb", "beta", "C", "ldc"};
  static constexpr Structure a(bool) { return Structure::General; }
  static constexpr Structure c(bool hermitian) { return rank_k::c(hermitian); }
  static Size size_a(const Options& o, const Extent& e) { return stored(o.op_a, e.n, e.k); }
  static Size size_b(const Options& o, const Extent& e) { return size_a(o, e); }
  static Size size_c(const Options&, const Extent& e) { return {e.n, e.n}; }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    const bool hermitian = c.routine->hermitian;
    const Op left = c.options.op_a, right = turned(left, hermitian);
    const auto alpha = widen(c.alpha);
    return {{alpha, {c.A, left}, {c.B, right}}, {hermitian ? conjugate(alpha) : alpha, {c.B, left}, {c.A, right}}};
  }
  template <Scalar T>
  static void call(auto routine, const Arguments<T>& arguments, auto... layout) {
    const auto& [o, e, alpha, A, lda, B, ldb, beta, C, ldc] = arguments;
    routine(layout..., o.uplo, o.op_a, e.n, e.k, alpha, A, lda, B, ldb, beta, C, ldc);
  }
  template <Scalar T>
  static void call(auto routine, const TileArguments<T>& arguments) {
    const auto& [o, alpha, A, B, beta, C] = arguments;
    routine(o.uplo, o.op_a, alpha, A, B, beta, C);
  }
};

/// C ← α op(A) C  or  α C op(A), or with the inverse of A, A triangular
struct triangular {
  static constexpr std::array arguments{"side", "uplo", "op", "diag", "m", "n", "alpha", "A", "lda", "B", "ldb"};
  static constexpr Structure a(bool) { return Structure::Triangular; }
  static constexpr Structure c(bool) { return Structure::General; }
  static Size size_a(const Options& o, const Extent& e) { return symmetric::size_a(o, e); }
  static Size size_b(const Options&, const Extent&) { return {}; }
  static Size size_c(const Options&, const Extent& e) { return {e.m, e.n}; }

  template <Scalar T>
  static std::vector<Term<T>> terms(const Call<T>& c) {
    const Seen<T> A{c.A, c.options.op_a, Structure::Triangular, c.options}, X{c.C};
    const Wide<T> factor = c.routine->solves() ? 1 : widen(c.alpha);
    return {c.options.side == Side::Left ? Term<T>{factor, A, X} : Term<T>{factor, X, A}};
  }
  template <Scalar T>
  static void call(auto routine, const Arguments<T>& arguments, auto... layout) {
    const auto& [o, e, alpha, A, lda, B, ldb, beta, C, ldc] = arguments;
    routine(layout..., o.side, o.uplo, o.op_a, o.diag, e.m, e.n, alpha, A, lda, C, ldc);
  }
  template <Scalar T>
  static void call(auto routine, const TileArguments<T>& arguments) {
    const auto& [o, alpha, A, B, beta, C] = arguments;
    routine(o.side, o.uplo, o.op_a, o.diag, alpha, A, C);
  }
};

}  // namespace tessera::test::shapes
