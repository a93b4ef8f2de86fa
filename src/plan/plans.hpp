// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tiling/plan.hpp"

/// Plans for calls on pointers, chosen by rehearsal. CPU workers, and calls that rehearsals do not cover, use the tiles
/// with the shortest time according to a formula. The type of the elements is s, d, c or z.
namespace tessera::detail {

/// A plan for a product op(A) (m×k) times op(B) (k×n).
Plan plan_product(const Machine& machine, char type, Op op_a, Op op_b, Index m, Index n, Index k);

/// A plan for one triangle of an n×n result, with k terms in each product.
Plan plan_triangle(const Machine& machine, char type, Uplo uplo, Op op_a, Op op_b, Index n, Index k, TriangleOf what);

/// A plan for the product of an m×n matrix and a symmetric one on its `side`. Tiles: m×n of C, k×k of the symmetric
/// matrix.
Plan plan_symmetric(const Machine& machine, char type, Side side, Index m, Index n);

/// A plan for an m×n matrix and a triangular matrix on its `side`. Tiles are m×n of the matrix and k×k of the triangle,
/// or m×k if it is cut into panels.
/// @param op       applied to the triangular matrix
/// @param inverse  true: solves with the triangular matrix; false: multiplies by it
Plan plan_triangular(const Machine& machine, char type, Side side, Op op, bool inverse, Index m, Index n);

/// A plan, in tiles, for solves with several triangular matrices on one `side` of an m×n matrix.
Plan plan_solves(const Machine& machine, char type, Side side, Index m, Index n);

/// A plan for the Cholesky factorization of a matrix of order n, in square tiles.
Plan plan_cholesky(const Machine& machine, char type, Index n);

/// A plan for the LU factorization of an m×n matrix without pivoting, in square tiles.
Plan plan_lu_nopiv(const Machine& machine, char type, Index m, Index n);

/// A plan for the LU factorization of an m×n matrix with partial pivoting, in panels.
Plan plan_getrf(const Machine& machine, char type, Index m, Index n);

/// A plan for the QR factorization of an m×n matrix, in panels of full height.
Plan plan_geqrf(const Machine& machine, char type, Index m, Index n);

}  // namespace tessera::detail
