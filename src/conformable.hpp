// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>

#include <tessera/error.hpp>
#include <tessera/matrix.hpp>

/// Whether matrices of tiles fit together. Every function throws before anything has been submitted.
namespace tessera::arguments {

/// @throws ShapeError naming the argument whose `what` ("rows") is not what `other` ("the columns of op(A)") asks for
inline void require_equal(const char* routine, int position, const char* name, const char* what, Index value,
                          const char* other, Index wanted) {
  if (value != wanted)
    throw ShapeError(routine, position, name,
                     "has " + std::to_string(value) + " " + what + ", must have as many as " + other + ", " +
                         std::to_string(wanted));
}

/// One dimension of a matrix and the size of the tiles it is cut into.
struct Cut {
  Index whole, tile;
  /// Two cuts are the same if their tiles begin at the same places: one tile is one tile, however large it could be.
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

inline void require_same_tiles(const char* routine, int position, const char* name, const char* what, Cut cut,
                               const char* other, Cut wanted) {
  if (!(cut == wanted))
    throw ShapeError(routine, position, name,
                     "has its " + std::string(what) + " cut into tiles of " + std::to_string(cut.tile) +
                         ", must be cut like " + other + ", into tiles of " + std::to_string(wanted.tile));
}

template <Scalar T>
void require_writable(const char* routine, int position, const char* name, const Matrix<T>& C) {
  if (C.read_only()) throw ArgumentError(routine, position, name, "is registered as read-only, but is the output");
}

template <Scalar T>
void require_disjoint(const char* routine, int position, const char* name, const Matrix<T>& C, const char* input,
                      const Matrix<T>& A) {
  if (C.overlaps(A)) throw ShapeError(routine, position, name, std::string("shares memory with the input ") + input);
}

}  // namespace tessera::arguments
