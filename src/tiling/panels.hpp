// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <tessera/types.hpp>

#include "chosen_tiles.hpp"
#include "machine_model.hpp"

namespace tessera::detail {

/// The fastest tall panels for a product of an m×k and a k×n matrix, none of them transposed. Nothing if there are not
/// one or two GPUs, of one kind, with owners, if the operands and a second C do not fit in their memory, if C is too
/// low or too narrow to be divided into panels, or if arithmetic is the limit.
std::optional<ChosenTiles> choose_panels(const MachineModel& machine, Index m, Index n, Index k);

/// The same for a product of an m×k matrix and the transpose of an n×k matrix.
std::optional<ChosenTiles> choose_panels_transposed(const MachineModel& machine, Index m, Index n, Index k);

}  // namespace tessera::detail
