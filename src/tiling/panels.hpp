// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <tessera/types.hpp>

#include "chosen_tiles.hpp"
#include "machine_model.hpp"

namespace tessera::detail {

/// The fastest tall panels for a product of an m×k and a k×n matrix, both not transposed. Empty unless there are one or
/// two GPUs of one kind, which own the tiles, and whose memory holds the operands and a second C. Also empty if C is
/// too low or too narrow to be divided into panels, or if arithmetic is the bottleneck.
std::optional<ChosenTiles> choose_panels(const MachineModel& machine, Index m, Index n, Index k);

/// The fastest panels for a product of an m×k matrix and the transpose of an n×k matrix.
std::optional<ChosenTiles> choose_panels_transposed(const MachineModel& machine, Index m, Index n, Index k);

/// The fastest panels for an update of one triangle of an n×n matrix by n×k factors, not transposed (syrk, syr2k).
/// @param what  not a product
std::optional<ChosenTiles> choose_update_panels(const MachineModel& machine, Index n, Index k, TriangleOf what);

/// The fastest panels for a triangular matrix, not transposed, on the left of an order×columns matrix. `tile.m` = order
/// describes the panels of B, and `tile.k` is the width of the panels of A.
/// @param inverse  true: trsm; false: trmm
std::optional<ChosenTiles> choose_triangular_panels(const MachineModel& machine, bool inverse, Index order,
                                                    Index columns);

/// The fastest panels for a symmetric matrix on the left of an order×columns matrix.
std::optional<ChosenTiles> choose_symmetric_panels(const MachineModel& machine, Index order, Index columns);

inline constexpr double clearly_faster = 0.95;

/// Returns panels if their predicted time is clearly shorter, otherwise tiles.
/// @param least_advantage  the maximum ratio between the times of panels and of tiles for which panels are chosen
ChosenTiles faster(const MachineModel& machine, const ChosenTiles& tiles, const std::optional<ChosenTiles>& panels,
                   double least_advantage = clearly_faster);

}  // namespace tessera::detail
