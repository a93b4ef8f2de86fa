// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <tessera/types.hpp>

/// What calls of all routines are made of, so that one test can go through all of them.
namespace tessera::test {

inline constexpr std::array all_sides{Side::Left, Side::Right};
inline constexpr std::array all_uplos{Uplo::Lower, Uplo::Upper};
inline constexpr std::array all_ops{Op::NoTrans, Op::Trans, Op::ConjTrans};
inline constexpr std::array all_diags{Diag::NonUnit, Diag::Unit};

/// The options of any routine; each looks at those that it has.
struct Options {
  Side side = Side::Left;
  Uplo uplo = Uplo::Lower;
  Op op_a = Op::NoTrans;  ///< "op" of the routines that have only one
  Op op_b = Op::NoTrans;
  Diag diag = Diag::NonUnit;
};

/// The sizes of a call, or those of its tiles: rows and columns of the result and terms of the sum.
struct Extent {
  Index m = 0, n = 0, k = 0;
};

/// Of a stored matrix, or of its tiles.
struct Size {
  Index rows = 0, columns = 0;
};

/// What is stored so that its op is rows×columns.
constexpr Size stored(Op op, Index rows, Index columns) {
  return op == Op::NoTrans ? Size{rows, columns} : Size{columns, rows};
}

/// What a stored matrix is taken for. All but the general ones are a triangle `uplo` of what is stored.
enum class Structure { General, Triangular, Symmetric, Hermitian };

constexpr bool in_triangle(Uplo uplo, Index i, Index j) { return uplo == Uplo::Lower ? i >= j : i <= j; }

/// Whether anyone may look at element (i, j), or write it.
constexpr bool is_meant(Structure structure, const Options& options, Index i, Index j) {
  if (structure == Structure::General) return true;
  if (structure == Structure::Triangular && i == j) return options.diag == Diag::NonUnit;
  return in_triangle(options.uplo, i, j);
}

}  // namespace tessera::test
