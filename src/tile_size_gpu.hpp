// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tile_size.hpp"

/// The choice of tiles where GPUs compute: the links feed them, and what is copied first and last overlaps with
/// nothing.
namespace tessera::detail {

ProductTiles choose_product_for_gpus(const TileProblem& machine, Transposed stored, Index m, Index n, Index k,
                                     Index fixed);

/// C is an n×n triangle of the sum of so many products.
ProductTiles choose_triangle_for_gpus(const TileProblem& machine, Transposed stored, Index n, Index k, TriangleOf what,
                                      Index fixed);

/// A symmetric or triangular matrix of that order from the left (m = k and n are cut) on a matrix with `free` columns;
/// from the right, the same for the transposed problem, in which m is cut as n.
ProductTiles choose_symmetric_for_gpus(const TileProblem& machine, Side side, Index order, Index free, Index fixed);
ProductTiles choose_triangular_for_gpus(const TileProblem& machine, Side side, bool inverse, Index order, Index free,
                                        Index fixed);

/// The smallest size of square tiles at which the kernel runs at 0.9 of its best rate.
Index smallest_fast_tile(const TileProblem& machine);

}  // namespace tessera::detail
