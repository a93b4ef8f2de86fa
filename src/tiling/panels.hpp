// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <tessera/types.hpp>

#include "chosen_tiles.hpp"
#include "machine_model.hpp"

namespace tessera::detail {

/// The fastest tall panels for a product of an m×k and a k×n matrix, neither of them transposed. Empty unless there are
/// one or two GPUs of one kind, with owners, whose memory holds the operands and a second C. Also empty if C is too low
/// or too narrow to be divided into panels, or if arithmetic is the limit.
std::optional<ChosenTiles> choose_panels(const MachineModel& machine, Index m, Index n, Index k);

/// The same for a product of an m×k matrix and the transpose of an n×k matrix.
std::optional<ChosenTiles> choose_panels_transposed(const MachineModel& machine, Index m, Index n, Index k);

/// The same for an update of one triangle of an n×n matrix by n×k factors, not transposed (syrk, syr2k).
/// @param what  not a product
std::optional<ChosenTiles> choose_update_panels(const MachineModel& machine, Index n, Index k, TriangleOf what);

/// The same for a non-transposed triangular matrix of this order on the left of an order×columns matrix: the panels of
/// B, `tile.m` = order, and those of A, `tile.k` wide.
/// @param inverse  true: trsm; false: trmm
std::optional<ChosenTiles> choose_triangular_panels(const MachineModel& machine, bool inverse, Index order,
                                                    Index columns);

/// The same for a symmetric matrix of this order on the left of an order×columns matrix.
std::optional<ChosenTiles> choose_symmetric_panels(const MachineModel& machine, Index order, Index columns);

inline constexpr double clearly_faster = 0.95;

/// Panels if their predicted time is clearly shorter, otherwise tiles.
/// @param least_advantage  the maximum time of panels, relative to that of tiles, for which panels are chosen
ChosenTiles faster(const MachineModel& machine, const ChosenTiles& tiles, const std::optional<ChosenTiles>& panels,
                   double least_advantage = clearly_faster);

}  // namespace tessera::detail
