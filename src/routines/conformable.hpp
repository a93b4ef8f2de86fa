// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include <tessera/error.hpp>
#include <tessera/matrix.hpp>

#include "blas/call.hpp"
#include "tile/tile_grid.hpp"
#include "tile/unwritten.hpp"

/// Checks that the matrices of a call are conformable. Every check throws before anything is submitted.
namespace tessera::routines {

/// A matrix in the argument list of a routine on matrices, for error messages.
struct MatrixArgument {
  const char* routine;
  int position;
  const char* name;
};

/// @param member  A, B or C
inline MatrixArgument matrix_argument(blas::Routine routine, blas::Member member) {
  using enum blas::Member;
  const auto& known = blas::properties(routine);
  int position = 1;
  for (const auto& parameter : blas::parameters(known.shape)) {
    if (parameter.member == member) return {known.name, position, parameter.name};
    const bool only_on_pointers = parameter.member == m || parameter.member == n || parameter.member == k ||
                                  parameter.member == lda || parameter.member == ldb;
    if (!only_on_pointers) position++;
  }
  return {known.name, 0, ""};
}

/// @throws ShapeError about `which` if its number of `what` ("rows") differs from the number of `other` ("the columns
///         of op(A)")
inline void require_equal(const MatrixArgument& which, const char* what, Index value, const char* other, Index wanted) {
  if (value != wanted)
    throw ShapeError(which.routine, which.position, which.name,
                     "has " + std::to_string(value) + " " + what + ", must have as many as " + other + ", " +
                         std::to_string(wanted));
}

template <Scalar T>
void require_square(const MatrixArgument& which, const Matrix<T>& A) {
  require_equal(which, "columns", A.n(), "rows", A.m());
}

/// One dimension of a matrix and the size of its tiles.
struct Cut {
  Index whole, tile;
  /// Whether tiles start at the same positions. Dimensions with a single tile are cut alike whatever their tile size.
  friend bool operator==(const Cut& a, const Cut& b) {
    return a.whole == b.whole && std::min(a.whole, a.tile) == std::min(b.whole, b.tile);
  }
};
template <Scalar T>
Cut row_cut(const Matrix<T>& A) {
  return {A.m(), A.mb()};
}
template <Scalar T>
Cut column_cut(const Matrix<T>& A) {
  return {A.n(), A.nb()};
}

inline void require_same_tiles(const MatrixArgument& which, const char* what, Cut cut, const char* other, Cut wanted) {
  if (!(cut == wanted))
    throw ShapeError(which.routine, which.position, which.name,
                     "has its " + std::string(what) + " cut into tiles of " + std::to_string(cut.tile) +
                         ", must be cut like " + other + ", into tiles of " + std::to_string(wanted.tile));
}

template <Scalar T>
void require_writable(const MatrixArgument& which, const Matrix<T>& C) {
  if (C.read_only())
    throw ArgumentError(which.routine, which.position, which.name, "is registered as read-only, but is the output");
}

/// @param triangle  the part of A that is read; if empty, all of A
/// @throws ArgumentError if A has no memory, and a tile that is read has no value
template <Scalar T>
void require_values(const MatrixArgument& which, const Matrix<T>& A, std::optional<Uplo> triangle = {}) {
  if (detail::MatrixAccess::grid(A).has_memory()) return;
  for (Index j = 0; j < A.nt(); j++)
    for (Index i = 0; i < A.mt(); i++) {
      const Index row = i * A.mb(), column = j * A.nb();
      if (triangle == Uplo::Lower && row + A.tile_m(i) <= column) continue;
      if (triangle == Uplo::Upper && column + A.tile_n(j) <= row) continue;
      if (tile::unwritten::contain(detail::MatrixAccess::handle(A, i, j)))
        throw ArgumentError(which.routine, which.position, which.name,
                            "is a matrix without memory, and its tile (" + std::to_string(i) + ", " +
                                std::to_string(j) + ") is read before anything has written it");
    }
}

/// Does the same for an operand that is read and overwritten.
template <Scalar T>
void require_in_place(const MatrixArgument& which, const Matrix<T>& A, std::optional<Uplo> triangle = {}) {
  require_writable(which, A);
  require_values(which, A, triangle);
}

template <Scalar T>
void require_disjoint(const MatrixArgument& which, const Matrix<T>& C, const char* input, const Matrix<T>& A) {
  if (C.overlaps(A))
    throw ShapeError(which.routine, which.position, which.name, std::string("shares memory with the input ") + input);
}

}  // namespace tessera::routines
