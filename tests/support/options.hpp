// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <tessera/types.hpp>

/// The options and sizes of calls, common to all routines, so that one test covers all of them.
namespace tessera::test {

inline constexpr std::array all_sides{Side::Left, Side::Right};
inline constexpr std::array all_uplos{Uplo::Lower, Uplo::Upper};
inline constexpr std::array all_ops{Op::NoTrans, Op::Trans, Op::ConjTrans};
inline constexpr std::array all_diags{Diag::NonUnit, Diag::Unit};

/// The options of all routines; each routine uses those that it has.
struct Options {
  Side side = Side::Left;
  Uplo uplo = Uplo::Lower;
  Op op_a = Op::NoTrans;  ///< also the `op` of routines that have only one
  Op op_b = Op::NoTrans;
  Diag diag = Diag::NonUnit;
};

/// The sizes of a call, or those of its tiles: rows and columns of the result and terms of the sum.
struct Extent {
  Index m = 0, n = 0, k = 0;
};

/// The size of a stored matrix, or of its tiles.
struct Size {
  Index rows = 0, columns = 0;
};

/// The size of the stored matrix A whose op(A) is rows×columns.
constexpr Size stored(Op op, Index rows, Index columns) {
  return op == Op::NoTrans ? Size{rows, columns} : Size{columns, rows};
}

/// How a routine interprets a stored matrix. Except for General, only the triangle `uplo` is used.
enum class Structure { General, Triangular, Symmetric, Hermitian };

constexpr bool in_triangle(Uplo uplo, Index i, Index j) { return uplo == Uplo::Lower ? i >= j : i <= j; }

/// Whether a routine may read or write element (i, j).
constexpr bool is_meant(Structure structure, const Options& options, Index i, Index j) {
  if (structure == Structure::General) return true;
  if (structure == Structure::Triangular && i == j) return options.diag == Diag::NonUnit;
  return in_triangle(options.uplo, i, j);
}

}  // namespace tessera::test
