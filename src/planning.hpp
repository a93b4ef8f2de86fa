// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "tile_size.hpp"

/// The choices of tile_size.hpp for the machine that a session runs on.
namespace tessera::detail {

class Session;

template <Scalar T>
TileProblem tile_problem(const Session& session);

/// Tiles for a product of pointers; `Session::tile` overrides.
template <Scalar T>
ProductTiles plan_product(const Session& session, Op op_a, Op op_b, Index m, Index n, Index k);

/// For an n×n triangle of pointers, with k terms in each product.
template <Scalar T>
ProductTiles plan_triangle(const Session& session, Op op_a, Op op_b, Index n, Index k, TriangleOf what);

/// For a symmetric matrix of pointers on one side of an m×n matrix: the tiles of C, and in k those of the symmetric
/// one.
template <Scalar T>
ProductTiles plan_symmetric(const Session& session, Side side, Index m, Index n);

/// The same for a triangular matrix, or one that is solved with.
template <Scalar T>
ProductTiles plan_triangular(const Session& session, Side side, bool inverse, Index m, Index n);

/// Blocks of C for such tiles.
template <Scalar T>
Block block_of_tiles(const Session& session, TileExtents tile);

/// Tile size of a matrix that is registered without one; `Session::tile` overrides.
template <Scalar T>
Index default_tile(const Session& session);

}  // namespace tessera::detail
