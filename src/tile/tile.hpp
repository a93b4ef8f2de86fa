// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <tessera/matrix.hpp>

#include "common/of_type.hpp"
#include "common/symmetry.hpp"
#include "common/triangle.hpp"
#include "stored.hpp"

namespace tessera::tile {

/// How a task uses a tile.
struct Access {
  starpu_data_handle_t handle;
  starpu_data_access_mode mode;
  int owner = -1;  ///< the GPU that gets the tile if it is requested in advance; -1: the GPU that runs the task
};

/// The op that turns a matrix into its adjoint: transpose if real, conjugate transpose if complex.
/// @param type  letter of its elements: s, d, c or z
inline Op adjoint_op(char type) { return common::symmetry(common::is_complex_type(type)); }

/// A tile as an algorithm sees it: as stored, its transpose, or its conjugate transpose. A plain value, which can also
/// describe a tile that is not registered.
struct Tile {
  starpu_data_handle_t handle;
  const detail::TileGrid* grid;  ///< null: the tile is only rehearsed, and its handle is a number
  Index i, j;                    ///< position in the matrix, as stored
  Index rows, columns;           ///< as stored
  int owner;                     ///< index of the GPU that runs the tasks that write the tile, or -1
  Op op = Op::NoTrans;
  int first_row = 0, first_column = 0;         ///< for a second factor: start of the part to multiply
  common::Part part = common::Part::All;       ///< for a result: the part to compute
  int diagonal = 0;                            ///< for a triangle: row in which the diagonal enters the tile
  bool keeps_rest = true;                      ///< whether elements outside `part` must survive
  starpu_data_handle_t wanted_next = nullptr;  ///< tile to prefetch to the memory where this tile was written

  bool is_whole() const noexcept { return part == common::Part::All; }
  Index n() const noexcept { return op == Op::NoTrans ? columns : rows; }
  /// The tile column in the matrix as the algorithm sees it.
  Index column() const noexcept { return op == Op::NoTrans ? j : i; }
  double elements() const noexcept { return static_cast<double>(rows) * static_cast<double>(columns); }
  Access read() const noexcept { return {handle, STARPU_R, owner}; }
};

inline Tile tile_of(const Stored& A, Index i, Index j, int owner, Op op = Op::NoTrans) {
  return {A.handle(i, j), A.is_outline() ? nullptr : &A.grid(), i, j, A.tile_m(i), A.tile_n(j), owner, op};
}

/// Applies op1, then op2. If both transpose, they must be equal.
constexpr Op composed(Op op1, Op op2) { return op1 == Op::NoTrans ? op2 : op1 == op2 ? Op::NoTrans : op1; }

/// The adjoint of a tile with elements of the given type.
inline Tile adjoint(char type, Tile tile) {
  tile.op = composed(tile.op, adjoint_op(type));
  return tile;
}

}  // namespace tessera::tile
