// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <algorithm>
#include <cstddef>

#include "codelets/triangle.hpp"

/// What of a tile is copied. Where only a triangle of a matrix is used, what is not used of the tiles on its diagonal
/// would be 2 to 10 percent of all that comes from the host, at n = 8192 on four H200.
namespace tessera::detail {

using codelets::Part;
using codelets::Rectangle;

/// StarPU's matrix interface, and what it does not know.
struct PartialTile {
  starpu_matrix_interface matrix;  // first: kernels see nothing else
  Part part;
  int diagonal;       ///< row in which the diagonal of the matrix enters the first column; may be outside
  std::size_t bytes;  ///< that are copied
};

/// A triangle is copied in this many panels of columns, each a rectangle: with eight, 1/16 of the tile is copied
/// needlessly. Narrower ones are not worth a copy of their own.
inline constexpr int most_panels = 8, narrowest_panel = 128;

/// Calls on_panel(Rectangle) for all that is copied.
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

/// Bytes from the start of a tile in memory to the first element of a panel.
inline std::size_t offset(const starpu_matrix_interface& tile, const Rectangle& panel) {
  return (static_cast<std::size_t>(panel.i) + static_cast<std::size_t>(panel.j) * tile.ld) * tile.elemsize;
}

/// StarPU's operations on such tiles.
const starpu_data_interface_ops& partial_tile_ops();

/// Of a tile that no task has seen yet, copies only what a triangle of the matrix has of it.
/// @param diagonal  row in which the diagonal of the matrix enters the first column
/// @pre  registered with operations that are made from `partial_tile_ops`
void use_triangle(starpu_data_handle_t tile, Uplo uplo, int diagonal);

}  // namespace tessera::detail
