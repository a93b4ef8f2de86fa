// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <tessera/types.hpp>

#include "tile/edges.hpp"
#include "tile/extents.hpp"
#include "tile/split.hpp"

namespace tessera::algorithms {

constexpr Index unlimited = std::numeric_limits<Index>::max();

/// A block of C: tiles that are computed together before the next block begins.
struct Block {
  Index rows = 0, columns = 0;  ///< in tiles; 0: all of C is one block
  bool fits_twice = true;       ///< whether each GPU can hold two copies of its part of the block
  bool tile_after_tile = true;  ///< whether each GPU may finish one tile after another
  Index resident = unlimited;   ///< number of terms whose input tiles fit in a GPU's memory together with one copy of
                                ///< its part of the block
};

/// A product in tall panels. Copies of long columns are fast, so A, B and C are copied in panels that are as tall as
/// possible, while each task multiplies only a chunk of k. All loads are requested at the start, in the order in which
/// they are needed. There are these forms:
/// - A B: a tile of B spans several chunks of k, and each task uses the rows of one chunk. A arrives first, in chunks,
///   together with the first panels of B. Then panels of B and C arrive alternately, and each finished panel of C
///   leaves.
/// - A B with a triangular A, and A⁻¹ B, in place (trmm, trsm): as above, but a task applies a whole panel of A, its
///   triangle and the other rows, to a panel of B. Panels of B become the result. If B is one panel, A may also be
///   transposed, or on the right. With a symmetric A (symm), a task also applies the transpose of the other rows, and
///   panels of C arrive and leave along with those of B.
/// - A Bᵀ: a tile of Bᵀ spans several tile columns of C. Each chunk of A and B that arrives is used for all of C, and C
///   arrives and leaves at the end. A Aᵀ and A Bᵀ + B Aᵀ (syrk, syr2k) take this form, too, but a task computes only
///   the part of a panel that lies in the triangle.
struct Panels {
  Index terms = 1;       ///< number of chunks of k in a tile of B
  Index columns = 1;     ///< number of tile columns of C in a tile of Bᵀ
  Index ahead = 0;       ///< number of panels of C that each GPU starts while A arrives; 0: no panels
  bool by_rows = false;  ///< whether GPUs own rows of C and share B, instead of owning columns and sharing A
  bool exist() const noexcept { return ahead > 0; }
};

/// How a call is cut into tasks. The plan is chosen once per call. The routines cut their matrices according to it, the
/// algorithms follow it, and tessera-info prints it.
struct Plan {
  tile::TileExtents tile = {};  ///< rows and columns of a tile of C, and the length of a chunk of k [elements]
  tile::EdgeTiles at_the_edges = tile::EdgeTiles::Ragged;  ///< how the last tiles in each dimension are cut
  Index k = 0;                                             ///< length of the sum for each element of C
  Index terms = 1;      ///< number of chunks of k, and thus of tasks that add to a tile of C
  Index sums = 1;       ///< number of partial sums into which these chunks are divided, for each tile
  Block block = {};     ///< tiles of C that are computed together
  Panels panels = {};   ///< how tiles are copied if C is computed in tall panels
  Index for_cores = 0;  ///< number of tiles of C that cores compute, unless these are its last rows or columns
  tile::LastTiles rows_for_cores = {};     ///< the last tile rows, which cores compute
  tile::LastTiles columns_for_cores = {};  ///< the last tile columns, which cores compute. Of a triangle, both are cut
                                           ///< alike
  int gpus = 0;                            ///< number of GPUs that take part, counted from the first; 0: all
  tile::OwnerGrid grid = {};               ///< the GPUs that own the tiles of C; 1×1 without owners
  std::vector<double> speeds = {};  ///< of these GPUs, by which independent columns are dealt out; empty: all equal
  Index together = 0;               ///< number of panels of a factorization that an earlier panel updates together
  bool load_first = false;  ///< whether all tiles are loaded at the start; those of a factorization then fit the GPUs
  double seconds = 0;       ///< predicted time of the call; 0: no prediction, because the tiles were given
  std::string reason = {};  ///< a sentence for tessera-info; empty if the tiles were given

  /// Whether cores compute a part of the result.
  bool has_cores() const noexcept { return for_cores > 0 || rows_for_cores.count > 0 || columns_for_cores.count > 0; }
  /// How m rows and n columns of the result are cut.
  tile::Edges rows(Index m) const { return cut(m, tile.m, rows_for_cores); }
  tile::Edges columns(Index n) const { return cut(n, tile.n, columns_for_cores); }

  /// The mean extents of a task. They differ from `tile` if chunks are shorter than `tile.k`.
  tile::TileExtents task() const { return {tile.m, tile.n, tile::divide_up(k, terms)}; }

 private:
  tile::Edges cut(Index whole, Index extent, tile::LastTiles last) const {
    return last.count > 0 ? tile::Edges(whole, extent, last) : tile::Edges(whole, extent, at_the_edges);
  }
};

/// Whether the panels of a QR factorization are cut for copies, because the matrix is much taller than wide.
constexpr bool is_tall_for_qr(Index m, Index n) { return m / 64 >= n; }

}  // namespace tessera::algorithms
