// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "chosen_tiles.hpp"
#include "machine_model.hpp"

/// Chooses tiles for CPU workers. They read host memory in place, so tiles are as large as possible while every worker
/// still gets enough of them.
namespace tessera::detail {

ChosenTiles choose_product_for_cpus(const MachineModel& machine, Index m, Index n, Index k, Index fixed);

/// Tiles for one triangle of the n×n sum of `products` products.
ChosenTiles choose_triangle_for_cpus(const MachineModel& machine, Index n, Index k, int products, Index fixed);

/// Whether the tile rows of the result depend on each other, as for a triangular matrix but not for a symmetric one.
enum class Rows { Independent, Dependent };

/// Tiles for a symmetric or triangular matrix of order `order` on the left of a matrix with `free` columns. In the
/// result, m = k is the tile size along the order, and n along the columns. For Side::Right, the result is for the
/// transposed problem.
ChosenTiles choose_sided_for_cpus(const MachineModel& machine, Side side, Index order, Index free, Rows rows,
                                  Index fixed);

}  // namespace tessera::detail
