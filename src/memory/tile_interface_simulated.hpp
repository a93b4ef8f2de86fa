// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "partial_tile.hpp"

namespace tessera::detail::tile_interface {

/// The tile, as it lies in host memory, whose size StarPU has asked for last; null if nobody has asked since the
/// previous call. StarPU asks just before it starts a simulated copy, which itself knows nothing but the size.
const PartialTile* take_last_sized();

}  // namespace tessera::detail::tile_interface
