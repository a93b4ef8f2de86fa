// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tiling/plan.hpp"

/// Plans for calls on pointers, chosen by rehearsal. CPU workers, and calls that rehearsals do not cover, use the tiles
/// with the shortest time according to a formula.
namespace tessera::detail {

/// A plan for a product op(A) (m×k) times op(B) (k×n).
template <Scalar T>
Plan plan_product(const Machine& machine, Op op_a, Op op_b, Index m, Index n, Index k);

/// A plan for one triangle of an n×n result, with k terms in each product.
template <Scalar T>
Plan plan_triangle(const Machine& machine, Uplo uplo, Op op_a, Op op_b, Index n, Index k, TriangleOf what);

/// A plan for the product of an m×n matrix and a symmetric one on its `side`. Tiles: m×n of C, k×k of the symmetric
/// matrix.
template <Scalar T>
Plan plan_symmetric(const Machine& machine, Side side, Index m, Index n);

/// A plan for an m×n matrix and a triangular matrix on its `side`. Tiles are m×n of the matrix and k×k of the triangle,
/// or m×k if it is cut into panels.
/// @param op       applied to the triangular matrix
/// @param inverse  true: solves with the triangular matrix; false: multiplies by it
template <Scalar T>
Plan plan_triangular(const Machine& machine, Side side, Op op, bool inverse, Index m, Index n);

/// A plan, in tiles, for solves with several triangular matrices on one `side` of an m×n matrix.
template <Scalar T>
Plan plan_solves(const Machine& machine, Side side, Index m, Index n);

/// A plan for the Cholesky factorization of a matrix of order n, in square tiles.
template <Scalar T>
Plan plan_cholesky(const Machine& machine, Index n);

/// A plan for the LU factorization of an m×n matrix without pivoting, in square tiles.
template <Scalar T>
Plan plan_lu_nopiv(const Machine& machine, Index m, Index n);

}  // namespace tessera::detail
