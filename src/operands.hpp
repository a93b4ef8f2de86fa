// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include <tessera/error.hpp>
#include <tessera/matrix.hpp>

#include "arguments.hpp"
#include "codelets/mirror.hpp"
#include "flipped.hpp"
#include "tile_grid.hpp"
#include "unroll/region.hpp"

/// What views and options mean together: which stored tiles, and what a tile operation does with them.
namespace tessera::detail {

constexpr Uplo flipped_if(bool flip, Uplo uplo) { return flip ? flipped(uplo) : uplo; }
constexpr Side flipped_if(bool flip, Side side) { return flip ? flipped(side) : side; }

using codelets::conjugated_if;

template <Scalar T>
bool is_transposed(const Matrix<T>& A) {
  return A.op() != Op::NoTrans;
}
/// False for real types: a conjugate transpose is a transpose.
template <Scalar T>
bool is_conjugated(const Matrix<T>& A) {
  return is_complex<T> && A.op() == Op::ConjTrans;
}

/// Whether a symmetric, or Hermitian, matrix is seen as its conjugate.
template <Scalar T, bool hermitian>
bool conjugates(const Matrix<T>& A) {
  return is_complex<T> && A.op() == (hermitian ? Op::Trans : Op::ConjTrans);
}

/// An operand of a product: the stored tiles and what is done with them.
template <Scalar T>
struct Factor {
  Matrix<T> tiles;
  bool transpose, conjugate;

  Factor(const Matrix<T>& A, Op op)
      : tiles(A.stored()), transpose((A.op() != Op::NoTrans) != (op != Op::NoTrans)),
        conjugate(is_complex<T> && (A.op() == Op::ConjTrans) != (op == Op::ConjTrans)) {}

  Op op() const { return !transpose ? Op::NoTrans : conjugate ? Op::ConjTrans : Op::Trans; }
  Matrix<T> seen() const { return transpose ? tiles.transposed() : tiles; }  ///< but for the conjugation

  /// Its transpose, or its conjugate transpose.
  Factor transposed(bool conjugated) const {
    Factor result = *this;
    result.transpose = !transpose;
    result.conjugate = is_complex<T> && conjugate != conjugated;
    return result;
  }
};

/// What a symmetric, or Hermitian, update may do with its operands.
template <Scalar T, bool hermitian>
inline constexpr arguments::Ops update_ops = hermitian       ? arguments::Ops::Hermitian
                                             : is_complex<T> ? arguments::Ops::Symmetric
                                                             : arguments::Ops::All;

/// @throws ArgumentError
[[noreturn]] inline void refuse_conjugate(const char* routine, int position, const char* name) {
  throw ArgumentError(routine, position, name,
                      "would have to be conjugated without being transposed, which is no operation of the BLAS");
}

/// @throws ArgumentError if no tile operation can use the factor
template <Scalar T>
void require_operation(const char* routine, int position, const char* name, const Factor<T>& factor) {
  if (factor.conjugate && !factor.transpose) refuse_conjugate(routine, position, name);
}

/// Real floating-point operations of an m×k by k×n product.
template <Scalar T>
double product_flops(Index m, Index n, Index k) {
  return flops_per_multiply_add<T> * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

/// Flops of a product with k terms, of what a triangle has of an m×n tile.
template <Scalar T>
double trapezoid_flops(Uplo uplo, Index m, Index n, Index k, Index first_row) {
  return flops_per_multiply_add<T> * codelets::trapezoid_elements(uplo, m, n, first_row) * static_cast<double>(k);
}

/// The tiles of C, as it is stored, or of a triangle of it.
/// @param position  of C among the arguments
/// @param uplo      the triangle; without it, all of C
/// @throws ShapeError if a row of tiles of a triangle does not end where a column of tiles does
template <Scalar T>
unroll::Region computed_tiles(const char* routine, int position, std::optional<Uplo> uplo, const Matrix<T>& C) {
  if (!uplo) return unroll::Part::All;
  if (C.mt() > 1 && C.mb() % C.nb() != 0)
    throw ShapeError(routine, position, "C",
                     "is cut, as it is stored, into tiles of " + std::to_string(C.mb()) + "x" + std::to_string(C.nb()) +
                         ", whose rows must be a multiple of their columns");
  return {codelets::part_of(*uplo), C.mt() > 1 ? C.mb() / C.nb() : std::max<Index>(1, C.nt())};
}

/// Says what traces shall call the tiles of a matrix by.
template <Scalar T>
void name_operand(const Matrix<T>& A, char letter) {
  MatrixAccess::grid(A).call(letter);
}

/// The output of a pointer routine.
/// @param uplo  the triangle of it that is used; without it, all
template <Scalar T>
Matrix<T> private_output(T* data, Index m, Index n, Index ld, TileSize tile, std::optional<Uplo> uplo = {}) {
  Matrix<T> C(data, m, n, ld, tile);
  MatrixAccess::grid(C).make_private();
  if (uplo) MatrixAccess::grid(C).use_only(*uplo);
  return C;
}

/// An input of a pointer routine that is symmetric, Hermitian or triangular, in square tiles. It must live until the
/// result is waited for.
template <Scalar T>
Matrix<T> stored_triangle(Uplo uplo, const T* data, Index order, Index ld, Index tile) {
  const Matrix<T> A(data, order, order, ld, {tile, tile});
  MatrixAccess::grid(A).use_only(uplo);
  return A;
}

/// An input of a pointer routine, as it is stored, so that its op is rows×columns in tiles of that size. It must
/// live until the result is waited for: its end waits for the tasks, and only then the result would start home.
template <Scalar T>
Matrix<T> stored_operand(Op op, const T* data, Index rows, Index columns, Index ld, TileSize tile) {
  if (op == Op::NoTrans) return {data, rows, columns, ld, tile};
  return {data, columns, rows, ld, {tile.columns, tile.rows}};
}

}  // namespace tessera::detail
