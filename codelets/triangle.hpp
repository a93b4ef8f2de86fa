// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

namespace tessera::codelets {

/// What a task computes of its output tile.
enum class Part : char { All, Lower, Upper };

constexpr Part part_of(Uplo uplo) { return uplo == Uplo::Lower ? Part::Lower : Part::Upper; }
constexpr Uplo uplo_of(Part part) { return part == Part::Lower ? Uplo::Lower : Uplo::Upper; }

/// A rectangle of a triangular tile [elements].
struct Rectangle {
  int i, j, m, n;
};

/// Cuts a triangle of order n in two: two triangles on the diagonal, and the rectangle between them. Again, until the
/// triangles are no larger than `leaf`. An operation that has no triangular form does most of its work on rectangles.
/// @param on_rectangle  called with a Rectangle
/// @param on_leaf       called with the first row and the order of a triangle on the diagonal
template <typename OnRectangle, typename OnLeaf>
void cut_triangle(Uplo uplo, int n, int leaf, OnRectangle on_rectangle, OnLeaf on_leaf, int first = 0) {
  if (n <= leaf) return on_leaf(first, n);
  const int half = (n / 2 + leaf - 1) / leaf * leaf;  // whole leaves first, so that the kernels see even sizes
  cut_triangle(uplo, half, leaf, on_rectangle, on_leaf, first);
  if (uplo == Uplo::Lower) on_rectangle(Rectangle{first + half, first, n - half, half});
  else on_rectangle(Rectangle{first, first + half, half, n - half});
  cut_triangle(uplo, n - half, leaf, on_rectangle, on_leaf, first + half);
}

}  // namespace tessera::codelets
