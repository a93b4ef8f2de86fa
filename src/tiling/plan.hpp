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

/// How a call is cut into tasks. It is chosen once a call: the routines cut their matrices by it, the loops of
/// src/algorithms follow it, and tessera-info prints it.
struct Plan {
  TileExtents tile = {};  ///< rows and columns of a tile of C, and the length of a chunk of k [elements]
  EdgeTiles at_the_edges = EdgeTiles::Ragged;  ///< how the last tiles in each direction are cut
  Index k = 0;                                 ///< elements of the sum of each element of C
  Index terms = 1;                             ///< chunks of k: tasks that add to a tile of C
  Index sums = 1;                              ///< sums into which those tasks are divided for each tile
  Block block = {};                            ///< tiles of C that are computed together
  Panels panels = {};                          ///< how tiles are copied if C is computed in tall panels
  Index for_cores = 0;                         ///< tiles of C that cores compute, beside the GPUs
  LastTiles columns_for_cores = {};  ///< for a triangular matrix: the tile columns of X (see Sweep) that cores compute
  int gpus = 0;                      ///< that take part, the first ones; 0: all
  OwnerGrid grid = {};               ///< the GPUs that own the tiles of C; 1×1 without owners
  Index together = 0;                ///< panels of a factorization that get the updates of an earlier one together
  bool load_first = false;  ///< whether all tiles of a factorization fit the GPUs: they are loaded at the start
  double seconds = 0;       ///< predicted time of the call; 0: not predicted, since the tiles were given
  std::string reason = {};  ///< one sentence for tessera-info; empty if the tiles were given

  /// Whether cores compute a part of the result beside the GPUs.
  bool has_cores() const noexcept { return for_cores > 0 || columns_for_cores.count > 0; }

  /// The mean extents of a task: chunks may be shorter than `tile.k`.
  TileExtents task() const { return {tile.m, tile.n, divide_up(k, terms)}; }
};

// Plans for the routines on pointers. The tiles have the shortest predicted time, unless `Machine::tile` is set.

/// Chooses how edges are cut. One GPU computes two tiles of equal height faster than a full and a low one. On several
/// GPUs, even edges unbalance the grid. Tiles for CPU workers are chosen such that the last one is hardly smaller.
EdgeTiles edges_of_products(const Machine& machine);

/// A plan for the LU factorization of an m×n matrix, in panels.
template <Scalar T>
Plan plan_lu(const Machine& machine, Index m, Index n);

/// A plan for the QR factorization of an m×n matrix, in panels of full height.
template <Scalar T>
Plan plan_qr(const Machine& machine, Index m, Index n);

// Plans for the routines on matrices, whose tiles are given.

/// A plan for sums of k terms.
/// @param tiles  tiles of C that are computed
template <Scalar T>
Plan plan_sums(const Machine& machine, TileExtents tile, Index tiles, Index k);

/// A plan for a triangular matrix of tiles of order `tile.k`.
/// @param columns  tile columns that are independent of each other
/// @param gpus     that take part; 0: all
Plan plan_columns(const Machine& machine, TileExtents tile, Index columns, int gpus = 0);

/// A plan for the factorization of a matrix of square tiles.
Plan plan_tiles(const Machine& machine, Index tile, int gpus = 0);

/// A plan for the factorization of an m×n matrix in panels.
/// @param tile  its columns are those of a panel
template <Scalar T>
Plan plan_panels(const Machine& machine, Index m, Index n, TileExtents tile);

/// Tile size for a matrix that is registered without one: `Machine::tile`, if it is set.
template <Scalar T>
Index default_tile(const Machine& machine);

}  // namespace tessera::detail
