// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/types.hpp>

#include "block.hpp"
#include "chosen_tiles.hpp"
#include "edges.hpp"
#include "machine/machine.hpp"
#include "split.hpp"

namespace tessera::detail {

/// How a call is cut into tasks. The plan is chosen once per call. The routines cut their matrices according to it, the
/// loops of src/algorithms follow it, and tessera-info prints it.
struct Plan {
  TileExtents tile = {};  ///< rows and columns of a tile of C, and the length of a chunk of k [elements]
  EdgeTiles at_the_edges = EdgeTiles::Ragged;  ///< how the last tiles in each dimension are cut
  Index k = 0;                                 ///< length of the sum for each element of C
  Index terms = 1;                             ///< number of chunks of k, and thus of tasks that add to a tile of C
  Index sums = 1;                    ///< number of partial sums into which these chunks are divided, for each tile
  Block block = {};                  ///< tiles of C that are computed together
  Panels panels = {};                ///< how tiles are copied if C is computed in tall panels
  Index for_cores = 0;               ///< number of tiles of C that cores compute
  LastTiles columns_for_cores = {};  ///< for a triangular matrix: the tile columns of X (see Sweep) that cores compute
  int gpus = 0;                      ///< number of GPUs that take part, counted from the first; 0: all
  OwnerGrid grid = {};               ///< the GPUs that own the tiles of C; 1×1 without owners
  Index together = 0;                ///< number of panels of a factorization that an earlier panel updates together
  bool load_first = false;           ///< whether all tiles of a factorization fit the GPUs and are loaded at the start
  double seconds = 0;                ///< predicted time of the call; 0: no prediction, because the tiles were given
  std::string reason = {};           ///< a sentence for tessera-info; empty if the tiles were given

  /// Whether cores compute a part of the result.
  bool has_cores() const noexcept { return for_cores > 0 || columns_for_cores.count > 0; }

  /// The mean extents of a task. They differ from `tile` if chunks are shorter than `tile.k`.
  TileExtents task() const { return {tile.m, tile.n, divide_up(k, terms)}; }
};

// Plans for the routines on pointers. Tiles have the shortest predicted time, unless `Machine::tile` is set. The
// element type is s, d, c or z.

/// How the edges of products are cut. A single GPU computes two tiles of equal height faster than a full tile and a low
/// one. On several GPUs, even edges would unbalance the grid. Tiles for CPU workers are chosen such that the last one
/// is hardly smaller.
EdgeTiles edges_of_products(const Machine& machine);

/// A plan for LU operations on an m×n matrix in panels.
/// @param gpus  number of GPUs that take part; 0: all
Plan plan_lu(const Machine& machine, char type, Index m, Index n, int gpus = 0);

/// Whether the panels of a QR factorization are cut for copies, because the matrix is much taller than wide.
constexpr bool is_tall_for_qr(Index m, Index n) { return m / 64 >= n; }
/// A plan for the QR factorization of an m×n matrix, in panels of full height, and for products with its factor.
Plan plan_qr(const Machine& machine, char type, Index m, Index n);

// Plans for the routines on matrices, whose tiles are given.

/// A plan for sums of k terms.
/// @param tiles  number of tiles of C to compute
Plan plan_sums(const Machine& machine, char type, TileExtents tile, Index tiles, Index k);

/// Tiles for a product whose operands and result stay on the GPUs. The tiles of the result also suit the inputs of a
/// similar product, and there are enough of them that most can be copied to the host during the call.
TileExtents tiles_to_keep(const Machine& machine, char type, Index m, Index n, Index k);

/// A plan for a triangular matrix with tiles of order `tile.k`.
/// @param columns  number of tile columns, which are independent of each other
/// @param gpus     number of GPUs that take part; 0: all
Plan plan_columns(const Machine& machine, TileExtents tile, Index columns, int gpus = 0);

/// A plan for the factorization of a matrix of square tiles.
Plan plan_tiles(const Machine& machine, Index tile, int gpus = 0);

/// A plan for the factorization of an m×n matrix in panels.
/// @param tile  as wide as a panel
/// @param gpus  number of GPUs that take part; 0: all
Plan plan_panels(const Machine& machine, char type, Index m, Index n, TileExtents tile, int gpus = 0);

/// The tile size for a matrix that the program registers without one: `Machine::tile`, or if it is not set, a choice.
Index default_tile(const Machine& machine, char type);

}  // namespace tessera::detail
