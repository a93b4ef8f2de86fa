// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include "blas/arguments.hpp"

/// The home of tiles in StarPU's sense: the memory node of the caller's memory, from which tiles are fetched and to
/// which results return. (In the policy, the home of a tile is a worker.)
namespace tessera::tile {

/// StarPU's memory node for an address. Empty if the address is on a GPU that no worker drives.
std::optional<int> home_of(const void* data);

/// Checks where the operands of a call are, and starts Tessera if one is on a GPU or in managed memory. Then waits for
/// the work queued on the legacy default streams of these GPUs, or of all GPUs, because this work may compute them.
/// @pre  `blas::arguments::illegal_memory` is legal
/// @throws ArgumentError if Tessera does not use the GPU, or an operand is longer than the memory
void require_reachable(const char* routine, std::span<const blas::arguments::StoredMatrix> operands);

}  // namespace tessera::tile
