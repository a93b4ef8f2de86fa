// SPDX-License-Identifier: BSD-3-Clause
#include "sized_tiles.hpp"

#include <utility>

#include "devices/tile_interface.hpp"

namespace tessera::device::tile_interface {

namespace {

// Needs no lock: SimGrid runs one simulated thread at a time, and switches only when a thread waits for simulated time.
const PartialTile* last_sized = nullptr;

std::size_t size(starpu_data_handle_t tile) {
  last_sized = static_cast<const PartialTile*>(starpu_data_get_interface_on_node(tile, STARPU_MAIN_RAM));
  return last_sized->bytes;
}

}  // namespace

const PartialTile* take_last_sized() { return std::exchange(last_sized, nullptr); }

starpu_data_interface_ops* pinned() {
  static auto ops = [] {
    auto simulated = partial_tile_ops();
    simulated.get_size = size;
    return simulated;
  }();
  return &ops;
}
starpu_data_interface_ops* pageable() { return pinned(); }
bool posts_copies() { return false; }
void start(std::size_t /*pinned_memory*/) {}
void stop() {}

}  // namespace tessera::device::tile_interface
