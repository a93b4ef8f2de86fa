// SPDX-License-Identifier: BSD-3-Clause
// The interfaces in builds without CUDA: StarPU's own allocation, and no staging buffers.
#include <starpu.h>

#include "devices/partial_tile.hpp"
#include "devices/tile_interface.hpp"

namespace tessera::device::tile_interface {

starpu_data_interface_ops* pinned() {
  static auto ops = partial_tile_ops();
  return &ops;
}
starpu_data_interface_ops* pageable() { return pinned(); }
bool posts_copies() { return false; }
std::optional<memory::DeviceHeap::Position> lend(unsigned /*node*/, void* /*tile*/) { return std::nullopt; }
bool uses_heap() { return false; }
void start(std::size_t /*pinned_memory*/) {}
void stop() {}

}  // namespace tessera::device::tile_interface
