// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "chosen_tiles.hpp"
#include "machine_model.hpp"

/// Chooses tiles for CPU workers or GPUs.
namespace tessera::detail {

/// The tiles with the shortest predicted time for a product.
/// @param fixed  a tile size to use instead; 0: none
ChosenTiles choose_product_tiles(const MachineModel& machine, Transposed stored, Index m, Index n, Index k,
                                 Index fixed);

/// The fastest tiles for one triangle of an n×n result. The rows of a tile are a multiple of its columns, and equal to
/// them on CPUs.
ChosenTiles choose_triangle_tiles(const MachineModel& machine, Transposed stored, Index n, Index k, TriangleOf what,
                                  Index fixed);

/// The fastest tiles for a symmetric matrix on one side of an m×n matrix. Its tiles are k×k; the tiles of C have k rows
/// (Left) or k columns (Right).
ChosenTiles choose_symmetric_tiles(const MachineModel& machine, Side side, Index m, Index n, Index fixed);

/// The fastest tiles for a triangular matrix that is applied in place.
/// @param inverse  true: trsm; false: trmm
ChosenTiles choose_triangular_tiles(const MachineModel& machine, Side side, bool inverse, Index m, Index n,
                                    Index fixed);

/// Square tiles for the Cholesky factorization of a matrix of order n.
ChosenTiles choose_cholesky_tiles(const MachineModel& machine, Index n, Index fixed);

/// Square tiles for the LU factorization of an m×n matrix without pivoting.
ChosenTiles choose_lu_nopiv_tiles(const MachineModel& machine, Index m, Index n, Index fixed);

/// The panel width for an LU factorization with partial pivoting, returned as `n`.
/// @param rows   number of rows of the matrix, and thus of a panel
/// @param order  the smaller dimension of the matrix
/// @param panel_rate  rate of the cores that factorize panels while GPUs update others [flop/s]; 0: the workers that
///                    update also factorize
ChosenTiles choose_lu_panel(const MachineModel& machine, Index rows, Index order, Index fixed, double panel_rate = 0);
/// Whether a GPU has room for the panels that a step needs, and StarPU can count their elements.
bool panel_fits(const MachineModel& machine, Index rows, Index width);

/// The size of square tiles for matrices whose use is not known yet. On GPUs, the smallest size at which the kernel
/// reaches 0.9 of its best rate; on CPUs, a constant. It depends only on the machine and the type, so such matrices are
/// conformable.
Index choose_default_tile(const MachineModel& machine);

}  // namespace tessera::detail
