// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

/// Copies of tiles between the host and OpenCL devices: rectangles of a tile in one command each, and exactly the
/// triangle of a `PartialTile` on the way to the host. They have queues of their own, beside the one that computes.
namespace tessera::detail::opencl_copies {

/// Call this after StarPU has started.
/// @throws RuntimeError if a device refuses
void start();
/// Call this when no tile is in use any more.
void stop();

/// Adds these copies to the methods of a data interface of PartialTiles.
void add_to(starpu_data_copy_methods& methods);

}  // namespace tessera::detail::opencl_copies
