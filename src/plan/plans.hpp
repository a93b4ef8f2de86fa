// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/error.hpp>

#include "algorithms/plan.hpp"
#include "machine/machine.hpp"

/// Plans for calls. The type of the elements is s, d, c or z.
///
/// What decides the size of tiles:
/// - For a call on pointers: RuntimeOptions::tile, else TESSERA_TILE (both set `Machine::tile`), else a rehearsal of
///   the candidates.
/// - For a Matrix: the tile size that the caller passes; else `tile::default_tile`, which is `Machine::tile` if that is
///   set.
namespace tessera::plan {

/// What is computed as a sum of products: all of A B, a triangle of it, a triangle of A Aᵀ or of A Bᵀ + B Aᵀ, or a
/// product with a symmetric matrix on one side.
enum class SumOf { Product, Triangle, RankK, Rank2k, SymmetricLeft, SymmetricRight };

// Plans for calls on pointers. They have the shortest predicted time, unless `Machine::tile` is set. `reads_result`:
// whether C is read, because β ≠ 0. `far`: whether the columns of an operand are far apart, see below.

/// Whether the columns of a matrix would be close together, which makes copies faster, but are not, because the matrix
/// is a part of a larger one.
bool are_far_apart(char type, Index rows, Index ld);

/// A plan for a product op(A) (m×k) times op(B) (k×n).
algorithms::Plan plan_product(const machine::Machine& machine, char type, Op op_a, Op op_b, Index m, Index n, Index k,
                              bool reads_result = true, bool far = false);

/// A plan for one triangle of an n×n result, with k terms in each product.
/// @param what  Triangle, RankK or Rank2k
algorithms::Plan plan_triangle(const machine::Machine& machine, char type, SumOf what, Op op_a, Op op_b, Index n,
                               Index k, bool reads_result = true, bool far = false);

/// A plan for the product of an m×n matrix and a symmetric one on its `side`. Tiles: m×n of C, k×k of the symmetric
/// matrix.
algorithms::Plan plan_symmetric(const machine::Machine& machine, char type, Side side, Index m, Index n,
                                bool reads_result = true, bool far = false);

/// A plan for an m×n matrix and a triangular matrix on its `side`. Tiles are m×n of the matrix and k×k of the triangle,
/// or m×k if it is cut into panels.
/// @param op       applied to the triangular matrix
/// @param inverse  true: solves with the triangular matrix; false: multiplies by it
algorithms::Plan plan_triangular(const machine::Machine& machine, char type, Side side, Op op, bool inverse, Index m,
                                 Index n, bool far = false);

/// A plan, in tiles, for solves with several triangular matrices on one `side` of an m×n matrix.
algorithms::Plan plan_solves(const machine::Machine& machine, char type, Side side, Index m, Index n);

/// A plan for the Cholesky factorization of a matrix of order n, in square tiles.
/// @param alone  whether cores get no part, because other operations use the same tiles
algorithms::Plan plan_cholesky(const machine::Machine& machine, char type, Index n, bool alone = false,
                               bool far = false);

/// A plan for the LU factorization of an m×n matrix without pivoting, in square tiles.
algorithms::Plan plan_lu_nopiv(const machine::Machine& machine, char type, Index m, Index n, bool alone = false,
                               bool far = false);

/// A plan for the LU factorization of an m×n matrix with partial pivoting, in panels, or for operations with its
/// factors.
algorithms::Plan plan_getrf(const machine::Machine& machine, char type, Index m, Index n);

/// A plan for the QR factorization of an m×n matrix, in panels of full height, or for operations with its factor.
algorithms::Plan plan_geqrf(const machine::Machine& machine, char type, Index m, Index n);

/// How the edges of products are cut. A single GPU computes two tiles of equal height faster than a full tile and a low
/// one. On several GPUs, even edges would unbalance the grid. Tiles for CPU workers are chosen such that the last one
/// is hardly smaller.
/// @param gpus  number of GPUs that take part
tile::EdgeTiles edges_of_products(const machine::Machine& machine, int gpus);

/// The tiles that a task needs exceed the memory of a GPU.
class NoRoom : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

/// Refuses tiles that do not fit into the memory of a GPU, where a task would wait forever.
/// @param tiles  bytes of all tiles that a task uses
/// @throws ArgumentError if the user asks for these tiles, otherwise NoRoom
void require_room(const machine::Machine& machine, double tiles);

// Plans for given tiles.

/// A plan for a product on pointers.
algorithms::Plan plan_product(const machine::Machine& machine, char type, tile::TileExtents tile, Index m, Index n,
                              Index k);

/// A plan for sums of k terms.
/// @param tiles  number of tiles of C to compute
/// @param gpus   number of GPUs that take part; 0: all
algorithms::Plan plan_sums(const machine::Machine& machine, char type, tile::TileExtents tile, Index tiles, Index k,
                           int gpus = 0);

/// Tiles for a product whose operands and result stay on the GPUs. The tiles of the result also suit the inputs of a
/// similar product, and there are enough of them that most can be copied to the host during the call.
tile::TileExtents tiles_to_keep(const machine::Machine& machine, char type, Index m, Index n, Index k);

/// A plan for a triangular matrix with tiles of order `tile.k`.
/// @param columns  number of tile columns, which are independent of each other
/// @param gpus     number of GPUs that take part; 0: all
algorithms::Plan plan_columns(const machine::Machine& machine, tile::TileExtents tile, Index columns, int gpus = 0);

/// A plan for the factorization of a matrix of square tiles.
/// @param bytes  size of the matrix; 0: its tiles are not loaded at the start
algorithms::Plan plan_tiles(const machine::Machine& machine, Index tile, int gpus = 0, double bytes = 0);

/// A plan for the factorization of an m×n matrix in panels.
/// @param tile  as wide as a panel
/// @param gpus  number of GPUs that take part; 0: all
algorithms::Plan plan_panels(const machine::Machine& machine, char type, Index m, Index n, tile::TileExtents tile,
                             int gpus = 0);

}  // namespace tessera::plan
