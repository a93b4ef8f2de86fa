// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "tile_size.hpp"

/// Calls the functions of tile_size.hpp for the machine of a session.
namespace tessera::detail {

class Session;

/// The session's machine, for matrices of T.
template <Scalar T>
TileProblem tile_problem(const Session& session);

// Tiles for the pointer routines; `Session::tile`, if set, overrides the choice.

/// Tiles for a product op(A) (m×k) times op(B) (k×n).
template <Scalar T>
ProductTiles plan_product(const Session& session, Op op_a, Op op_b, Index m, Index n, Index k);

/// Tiles for one triangle of an n×n result, with k terms in each product.
template <Scalar T>
ProductTiles plan_triangle(const Session& session, Op op_a, Op op_b, Index n, Index k, TriangleOf what);

/// Tiles for the product of an m×n matrix and a symmetric one on its `side`: m×n of C, k×k of the symmetric matrix.
template <Scalar T>
ProductTiles plan_symmetric(const Session& session, Side side, Index m, Index n);

/// Tiles for an m×n matrix and a triangular one on its `side`.
/// @param inverse  whether the triangular matrix is solved with
template <Scalar T>
ProductTiles plan_triangular(const Session& session, Side side, bool inverse, Index m, Index n);

/// The blocks of C for tiles of that size.
template <Scalar T>
Block block_of_tiles(const Session& session, TileExtents tile);

/// Tile size for a matrix that is registered without one; `Session::tile`, if set, overrides it.
template <Scalar T>
Index default_tile(const Session& session);

}  // namespace tessera::detail
