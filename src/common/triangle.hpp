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

/// Of an m×n tile that the diagonal enters in row `first`: the rectangle below, or above, the triangle of order n.
constexpr Rectangle rest_of_trapezoid(Uplo uplo, int m, int n, int first) {
  return uplo == Uplo::Lower ? Rectangle{first + n, 0, m - first - n, n} : Rectangle{0, 0, first, n};
}
/// Elements of both; of the triangle n²/2, as flops are counted.
constexpr double trapezoid_elements(Uplo uplo, Index m, Index n, Index first) {
  const auto width = static_cast<double>(n);
  return width * (width / 2 + static_cast<double>(uplo == Uplo::Lower ? m - first - n : first));
}

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

/// The same for the trapezoid that both are of an m×n tile.
/// @param on_leaf  called with row, column and order
template <typename OnRectangle, typename OnLeaf>
void cut_trapezoid(Uplo uplo, int m, int n, int first_row, int leaf, OnRectangle on_rectangle, OnLeaf on_leaf) {
  if (const auto rest = rest_of_trapezoid(uplo, m, n, first_row); rest.m > 0) on_rectangle(rest);
  cut_triangle(
      uplo, n, leaf,
      [&](const Rectangle& r) {
        on_rectangle(Rectangle{first_row + r.i, r.j, r.m, r.n});
      },
      [&](int first, int order) { on_leaf(first_row + first, first, order); });
}

}  // namespace tessera::codelets
