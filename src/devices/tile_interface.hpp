// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "memory/device_heap.hpp"

struct starpu_data_interface_ops;

/// StarPU's data interfaces for tiles. They allocate tiles on GPUs from a DeviceHeap, and copy each tile as a
/// `PartialTile`.
namespace tessera::device::tile_interface {

/// The interface for tiles in pinned host memory, and for tiles without host memory.
starpu_data_interface_ops* pinned();
/// The interface for tiles in pageable host memory, or in memory that is pinned in parts.
starpu_data_interface_ops* pageable();

/// Whether tiles in pageable memory are copied without occupying the threads that drive GPUs.
bool posts_copies();

/// Where a tile on a GPU lies, for other processes that open its slab. The slab is not freed before `stop`.
/// @param node  the memory node of the GPU
/// @return      empty if the tile does not come from a heap
std::optional<memory::DeviceHeap::Position> lend(unsigned node, void* tile);
/// Whether tiles on GPUs come from heaps.
bool uses_heap();

/// Call this after StarPU has started, but not from a StarPU thread.
/// @param pinned_memory  limit of the staging buffers for pageable tiles [bytes]; 0: as much as is useful
void start(std::size_t pinned_memory);
/// Call this when no tiles are in use. StarPU may still free cached tiles on the GPUs later.
void stop();

}  // namespace tessera::device::tile_interface
