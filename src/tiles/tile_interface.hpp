// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

struct starpu_data_interface_ops;

/// How StarPU allocates tiles on GPUs and copies them: as a `PartialTile`.
namespace tessera::detail::tile_interface {

/// For tiles of memory that is pinned, and for those that have none on the host.
starpu_data_interface_ops* pinned();
/// For tiles of memory that is not.
/// @param column  bytes of a column of the largest tile
starpu_data_interface_ops* pageable(std::size_t column);

/// When StarPU has started. Not from a thread of StarPU's.
/// @param pinned_memory  for copies of tiles that are not pinned [bytes]; 0: as much as is of use
void start(std::size_t pinned_memory);
/// When no tile is in use any more. What StarPU still keeps on the GPUs may be given back later.
void stop();

}  // namespace tessera::detail::tile_interface
