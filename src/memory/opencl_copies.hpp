// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <cstddef>

/// Copies of tiles between the host and OpenCL devices, exactly the triangle of a `PartialTile` on the way to the host.
/// A device with memory of its own gets and gives tiles through pinned staging buffers, which several threads fill and
/// empty. Other devices copy each rectangle of a tile in one command. The copies have queues of their own, beside the
/// one that computes.
namespace tessera::detail::opencl_copies {

/// Call this after StarPU has started, but not from a StarPU thread.
/// @param pinned_memory  limit of the staging buffers [bytes]; 0: as much as is useful
/// @throws RuntimeError if a device refuses
void start(std::size_t pinned_memory);
/// Call this when no tile is in use any more.
void stop();

/// Adds these copies to the methods of a data interface of PartialTiles.
void add_to(starpu_data_copy_methods& methods);

}  // namespace tessera::detail::opencl_copies
