// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tile_size.hpp"

/// The choice of tiles where CPU workers compute: they read host memory in place, so that tiles are as large as leaves
/// every worker enough of them.
namespace tessera::detail {

ProductTiles choose_product_for_cpus(const TileProblem& machine, Index m, Index n, Index k, Index fixed);

/// C is an n×n triangle of the sum of so many products.
ProductTiles choose_triangle_for_cpus(const TileProblem& machine, Index n, Index k, int products, Index fixed);

/// Whether the tile rows of the result of a symmetric or triangular matrix depend on each other.
enum class Rows { Independent, Dependent };

/// A symmetric or triangular matrix of that order from the left (m = k and n are cut) on a matrix with `free` columns;
/// from the right, the same for the transposed problem.
ProductTiles choose_sided_for_cpus(const TileProblem& machine, Side side, Index order, Index free, Rows rows,
                                   Index fixed);

}  // namespace tessera::detail
