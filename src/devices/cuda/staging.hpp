// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

struct starpu_data_copy_methods;

/// Copies between GPUs and host memory through pinned staging buffers. CUDA's own copies of pageable memory are slow
/// and block the calling thread. Here several threads fill and empty staging buffers, piece by piece, while the link
/// copies earlier pieces. The link copies rectangles. A kernel writes the remaining squares at the diagonal of a
/// triangle (its *corners*, see partial_tile.hpp), because only a part of each may be written: to pinned memory, or to
/// another GPU if the caller's matrix is there.
namespace tessera::device::staging {

/// The copy methods of a `PartialTile` in pinned memory: direct copies, except for the corners of tiles from a GPU.
const starpu_data_copy_methods* pinned_copies();

/// The copy methods of a `PartialTile` in pageable memory: all parts of the tile go through staging buffers.
const starpu_data_copy_methods* pageable_copies();

/// Starts the copying threads. They inherit the CPU affinity of the calling thread, so do not call this from a StarPU
/// thread, which is bound to one core. Staging buffers are allocated when a thread first needs them.
/// @param pinned_memory  limit for all staging buffers [bytes]; 0: no limit. If the limit is too small for posted
///                       copies (which other threads carry out instead of the threads that drive the GPUs), the
///                       threads that drive GPUs always get buffers, and other threads share the rest
void start(std::size_t pinned_memory);

/// Whether tiles in pageable memory are copied without occupying the threads that drive GPUs.
bool posts_copies();

/// Ends the threads and frees the staging buffers.
/// @pre  no tile is being copied
void stop();

}  // namespace tessera::device::staging
