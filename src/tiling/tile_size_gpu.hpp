// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>

#include <tessera/types.hpp>

#include "chosen_tiles.hpp"
#include "machine_model.hpp"

/// Chooses tiles for GPUs. The links must feed the GPUs, and the first and last copies do not overlap with computation.
namespace tessera::detail {

ChosenTiles choose_product_for_gpus(const MachineModel& machine, Transposed stored, Index m, Index n, Index k,
                                    Index fixed);

/// Tiles for one triangle of an n×n result.
ChosenTiles choose_triangle_for_gpus(const MachineModel& machine, Transposed stored, Index n, Index k, TriangleOf what,
                                     Index fixed);

/// Tiles for a symmetric matrix of order `order` on the left of a matrix with `free` columns. In the result, m = k is
/// the tile size along the order, and n along the columns. For Side::Right, the result is for the transposed problem.
ChosenTiles choose_symmetric_for_gpus(const MachineModel& machine, Side side, Index order, Index free, Index fixed);
/// Tiles for a triangular matrix, described in the same way. CPU cores share the result if the machine has cores for
/// this.
ChosenTiles choose_triangular_for_gpus(const MachineModel& machine, Side side, bool inverse, Index order, Index free,
                                       Index fixed);

/// (Index columns): the tiles for this number of columns of X; empty if there are none.
using Rechoose = std::function<std::optional<ChosenTiles>(Index columns)>;
/// Gives the last columns of X to cores, if the machine has cores for this and the call becomes clearly faster.
/// @param tiles     tiles without cores, with their predicted time
/// @param rechoose  the tiles for the columns that are left to the GPUs
ChosenTiles share_columns_with_cores(MachineModel machine, ChosenTiles tiles, Index order, Index free,
                                     const Rechoose& rechoose);

/// The smallest size of square tiles at which the kernel reaches 0.9 of its best rate.
Index smallest_fast_tile(const MachineModel& machine);

}  // namespace tessera::detail
