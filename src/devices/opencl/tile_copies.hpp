// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <cstddef>

/// Copies of tiles between the host and OpenCL devices. Copies to the host write exactly the triangle of a
/// `PartialTile`. Tiles of a device with its own memory go through pinned staging buffers, which several threads fill
/// and empty. For other devices, one command copies each rectangle of a tile. The copies have their own queues.
namespace tessera::device::opencl_copies {

/// Call this after StarPU has started, but not from a StarPU thread.
/// @param pinned_memory  limit of the staging buffers [bytes]; 0: as much as is useful
/// @throws RuntimeError if a device refuses
void start(std::size_t pinned_memory);
/// Call this when no tiles are in use.
void stop();

/// Adds these copies to the methods of a data interface of PartialTiles.
void add_to(starpu_data_copy_methods& methods);

}  // namespace tessera::device::opencl_copies
