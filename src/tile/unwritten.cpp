// SPDX-License-Identifier: BSD-3-Clause
#include "unwritten.hpp"

#include <mutex>
#include <unordered_map>

namespace tessera::tile::unwritten {

namespace {

std::mutex mutex;
std::unordered_map<starpu_data_handle_t, State> tiles;  // contains no written tiles

}  // namespace

void add(starpu_data_handle_t tile) {
  const std::lock_guard lock(mutex);
  tiles[tile] = State::Unwritten;
  count = tiles.size();
}

State known_state(starpu_data_handle_t tile) {
  const std::lock_guard lock(mutex);
  const auto found = tiles.find(tile);
  return found == tiles.end() ? State::Written : found->second;
}

void set_known(starpu_data_handle_t tile, State state) {
  const std::lock_guard lock(mutex);
  if (state == State::Written) tiles.erase(tile);
  else tiles[tile] = state;
  count = tiles.size();
}

}  // namespace tessera::tile::unwritten
