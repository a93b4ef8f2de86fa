// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "common/triangle.hpp"

/// Partial copies of tiles. If only a triangle of a matrix is used, the tiles on its diagonal have unused parts, which
/// need not be copied. In the caller's memory, the other triangle may belong to another thread, so copies to the host
/// and to that memory write exactly the triangle. Copies to a GPU may also read elements next to the diagonal, which
/// the GPU does not use.
namespace tessera::device {

using common::Part;
using common::Rectangle;

/// StarPU's matrix interface, extended by the used part of the tile.
struct PartialTile {
  starpu_matrix_interface matrix;  // must be first: kernels see only this member
  Part part;
  int diagonal;       ///< row in which the matrix diagonal crosses the first column; may lie outside the tile
  std::size_t bytes;  ///< bytes that a copy sends over a link
  int home;           ///< the memory node of the caller's memory; -1: there is none
};

/// A triangle is cut into at most this number of panels, each with at least this number of columns. Copies to a GPU may
/// send whole panels, which are rectangles. With eight panels, the needless part is 1/16 of the tile. Narrower panels
/// are not worth separate copies.
inline constexpr int most_panels = 8, narrowest_panel = 128;

/// Calls on_panel(Rectangle) for each panel. The panels cover the triangle and some elements of the other triangle next
/// to the diagonal.
template <typename OnPanel>
void for_each_panel(const PartialTile& tile, OnPanel on_panel) {
  const int m = static_cast<int>(tile.matrix.nx), n = static_cast<int>(tile.matrix.ny);
  if (tile.part == Part::All) return on_panel(Rectangle{0, 0, m, n});
  const int width = std::max(narrowest_panel, (n + most_panels - 1) / most_panels);
  for (int j = 0; j < n; j += width) {
    const int columns = std::min(width, n - j);
    const int begin = tile.part == Part::Lower ? std::clamp(tile.diagonal + j, 0, m) : 0;
    const int end = tile.part == Part::Upper ? std::clamp(tile.diagonal + j + columns, 0, m) : m;
    if (begin < end) on_panel(Rectangle{begin, j, end - begin, columns});
  }
}

/// Cuts each panel into a rectangle that lies entirely in the triangle, and a square corner at the diagonal. Only
/// `used_rows` of a corner lie in the triangle.
/// @param on_rectangle, on_corner  called with nonempty Rectangles
template <typename OnRectangle, typename OnCorner>
void for_each_part(const PartialTile& tile, OnRectangle on_rectangle, OnCorner on_corner) {
  for_each_panel(tile, [&](const Rectangle& panel) {
    if (tile.part == Part::All) return on_rectangle(panel);
    const bool lower = tile.part == Part::Lower;
    const int end = panel.i + panel.m;
    const int cut = std::clamp(tile.diagonal + panel.j + (lower ? panel.n : 0), panel.i, end);
    const Rectangle above{panel.i, panel.j, cut - panel.i, panel.n}, below{cut, panel.j, end - cut, panel.n};
    if (const auto& rectangle = lower ? below : above; rectangle.m > 0) on_rectangle(rectangle);
    if (const auto& corner = lower ? above : below; corner.m > 0) on_corner(corner);
  });
}

/// The rows [begin, end).
struct RowRange {
  int begin, end;
};

/// The rows of column j of a rectangle that belong to the triangle; may be empty. Rows and columns count from the start
/// of the tile.
inline RowRange used_rows(const PartialTile& tile, const Rectangle& rectangle, int j) {
  RowRange rows{rectangle.i, rectangle.i + rectangle.m};
  const int diagonal = tile.diagonal + j;
  if (tile.part == Part::Lower) rows.begin = std::clamp(diagonal, rows.begin, rows.end);
  if (tile.part == Part::Upper) rows.end = std::clamp(diagonal + 1, rows.begin, rows.end);
  return rows;
}

/// Calls on_column(Rectangle) for the used part of each column of a corner.
template <typename OnColumn>
void for_each_used_column(const PartialTile& tile, const Rectangle& corner, OnColumn on_column) {
  for (int j = corner.j; j < corner.j + corner.n; j++)
    if (const auto [begin, end] = used_rows(tile, corner, j); begin < end)
      on_column(Rectangle{begin, j, end - begin, 1});
}

/// The offset of an element from the start of a tile in memory [bytes].
inline std::size_t offset(const starpu_matrix_interface& tile, int i, int j) {
  return (static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * tile.ld) * tile.elemsize;
}

/// Whether the tile in this memory is a copy of which nobody reads the elements outside the used part.
inline bool is_rest_unused(const PartialTile& tile, unsigned node) {
  return tile.part != Part::All && tile.home != static_cast<int>(node);
}

/// The largest distance of columns for CUDA's cudaMemcpy2D and cudaMemset2D [bytes].
inline constexpr std::size_t most_apart = std::numeric_limits<int>::max();

/// The operations that StarPU needs for a PartialTile.
const starpu_data_interface_ops& partial_tile_ops();

/// Restricts the copies of a tile to a triangle of the matrix.
/// @param diagonal  row in which the matrix diagonal crosses the first column of the tile
/// @pre  the tile is registered with operations derived from `partial_tile_ops`, and no task has used it yet
void use_triangle(starpu_data_handle_t tile, Uplo uplo, int diagonal);

}  // namespace tessera::device
