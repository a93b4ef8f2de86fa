// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include <tessera/error.hpp>
#include <tessera/matrix.hpp>

#include "blas/arguments.hpp"
#include "tiles/tile_grid.hpp"

/// Checks that the arguments of a call fit together. Every check throws before anything is submitted.
namespace tessera::arguments {

/// @throws ShapeError about the argument `name` if its number of `what` ("rows") differs from that of `other` ("the
///                    columns of op(A)")
inline void require_equal(const char* routine, int position, const char* name, const char* what, Index value,
                          const char* other, Index wanted) {
  if (value != wanted)
    throw ShapeError(routine, position, name,
                     "has " + std::to_string(value) + " " + what + ", must have as many as " + other + ", " +
                         std::to_string(wanted));
}

template <Scalar T>
void require_square(const char* routine, int position, const char* name, const Matrix<T>& A) {
  require_equal(routine, position, name, "columns", A.n(), "rows", A.m());
}

/// One dimension of a matrix and the size of the tiles it is cut into.
struct Cut {
  Index whole, tile;
  /// Two cuts are the same if their tiles begin at the same places. A dimension of one tile is cut the same way
  /// whatever its tile size.
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

/// The memory of a matrix of a pointer routine.
inline detail::TileGrid::Memory memory_of(const StoredMatrix& matrix) {
  return {static_cast<const std::byte*>(matrix.data), static_cast<std::size_t>(matrix.m * matrix.element_size),
          static_cast<std::size_t>(matrix.ld * matrix.element_size), matrix.n};
}

/// Checks a call on pointers: all its arguments are legal, and its output does not overlap an input that it reads.
/// @param layout  the layout, if the caller gave one: it is then argument 1, and all other positions increase by one
/// @throws ArgumentError, ShapeError
template <typename AnyCall>
void require_legal_call(const char* routine, const AnyCall& call, std::optional<Layout> layout) {
  if (layout) require_legal(routine, illegal_layout(*layout));
  const int shift = layout ? 1 : 0;
  auto illegal = first_illegal(call);
  if (illegal.position != 0) illegal.position += shift;
  require_legal(routine, illegal);
  const auto all = matrices(call);
  const auto& output = all.back();
  if (output.m == 0 || output.n == 0) return;
  for (const auto& input : all)
    if (&input != &output && input.used && input.m > 0 && input.n > 0 &&
        detail::overlap(memory_of(output), memory_of(input)))
      throw ShapeError(routine, output.position + shift, output.name,
                       std::string("shares memory with the input ") + input.name);
}

}  // namespace tessera::arguments
