// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

namespace tessera::common {

/// Which part of its output tile a task computes.
enum class Part : char { All, Lower, Upper };

constexpr Part part_of(Uplo uplo) { return uplo == Uplo::Lower ? Part::Lower : Part::Upper; }
constexpr Uplo uplo_of(Part part) { return part == Part::Lower ? Uplo::Lower : Uplo::Upper; }

/// A rectangle of a triangular tile [elements].
struct Rectangle {
  int i, j, m, n;
};

/// The diagonal enters an m×n tile in row `first`. The used part of the tile is a trapezoid: a triangle of order n, and
/// a rectangle below it (Lower) or above it (Upper). Returns the rectangle, which may be empty.
constexpr Rectangle rest_of_trapezoid(Uplo uplo, int m, int n, int first) {
  return uplo == Uplo::Lower ? Rectangle{first + n, 0, m - first - n, n} : Rectangle{0, 0, first, n};
}
/// The rectangle together with the square around the triangle.
constexpr Rectangle around_trapezoid(Uplo uplo, int m, int n, int first) {
  return uplo == Uplo::Lower ? Rectangle{first, 0, m - first, n} : Rectangle{0, 0, first + n, n};
}
/// The number of elements of the trapezoid. The triangle counts as n²/2, as in flop counts.
constexpr double trapezoid_elements(Uplo uplo, Index m, Index n, Index first) {
  const auto width = static_cast<double>(n);
  return width * (width / 2 + static_cast<double>(uplo == Uplo::Lower ? m - first - n : first));
}

/// Cuts a triangle of order n recursively into two triangles on the diagonal and the rectangle between them, until the
/// triangles are no larger than `leaf`. An operation without a triangular form thus does most of its work on
/// rectangles.
/// @param on_rectangle  called with a Rectangle
/// @param on_leaf       called with the first row and the order of a diagonal triangle
template <typename OnRectangle, typename OnLeaf>
void cut_triangle(Uplo uplo, int n, int leaf, OnRectangle on_rectangle, OnLeaf on_leaf, int first = 0) {
  if (n <= leaf) return on_leaf(first, n);
  const int half = (n / 2 + leaf - 1) / leaf * leaf;  // a multiple of `leaf`, so that most kernels work on round sizes
  cut_triangle(uplo, half, leaf, on_rectangle, on_leaf, first);
  if (uplo == Uplo::Lower) on_rectangle(Rectangle{first + half, first, n - half, half});
  else on_rectangle(Rectangle{first, first + half, half, n - half});
  cut_triangle(uplo, n - half, leaf, on_rectangle, on_leaf, first + half);
}

/// Cuts the trapezoid of an m×n tile in the same manner; see `rest_of_trapezoid`.
/// @param on_leaf  called with the row, the column and the order of a triangle
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

}  // namespace tessera::common
