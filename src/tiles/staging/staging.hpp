// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

struct starpu_data_copy_methods;

/// Copies between GPUs and host memory through pinned buffers. CUDA alone moves 9 GB/s into a GPU from memory that is
/// not pinned, with one thread of ours blocked; here several threads copy it into pinned buffers and out of them, piece
/// by piece, while the pieces before are on the link. The corners of a triangle take this way from and to pinned
/// memory, too: the link copies rectangles, a thread copies what is used of their columns.
namespace tessera::detail::staging {

/// Bytes of one pinned buffer. Small enough that all threads have something to do for one tile, large enough for the
/// link.
inline constexpr std::size_t buffer_bytes = std::size_t{2} << 20;

/// The copy methods of a `PartialTile` in pinned memory: rectangles directly, corners through the buffers.
const starpu_data_copy_methods* pinned_copies();

/// The copy methods of a `PartialTile` in memory that is not pinned: all through the buffers.
/// @pre  a column of the tile fits a buffer
const starpu_data_copy_methods* pageable_copies();

/// Starts the threads, which sleep until there is a tile. Not from a thread of StarPU's, which is bound to one core, as
/// they would be. Buffers are allocated when they are needed.
/// @param pinned_memory  for all of them [bytes], as far as those that drive the GPUs do not need more; 0: as much as
/// is
///                       of use
void start(std::size_t pinned_memory);

/// Ends the threads and frees the buffers.
/// @pre  no tile is being copied
void stop();

}  // namespace tessera::detail::staging
