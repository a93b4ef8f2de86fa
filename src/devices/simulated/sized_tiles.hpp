// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "devices/partial_tile.hpp"

namespace tessera::device::tile_interface {

/// The tile whose size StarPU queried last, as stored in host memory. Null if it has queried none since the previous
/// call of this function. StarPU queries the size just before it starts a simulated copy, which itself receives only
/// the size.
const PartialTile* take_last_sized();

}  // namespace tessera::device::tile_interface
