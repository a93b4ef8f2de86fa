// SPDX-License-Identifier: BSD-3-Clause
#include "unwritten.hpp"

#include <mutex>
#include <unordered_set>

namespace tessera::detail::unwritten {

namespace {

std::mutex mutex;
std::unordered_set<starpu_data_handle_t> tiles;

}  // namespace

void add(starpu_data_handle_t tile) {
  const std::lock_guard lock(mutex);
  tiles.insert(tile);
  count = tiles.size();
}

bool are_known_to_contain(starpu_data_handle_t tile) {
  const std::lock_guard lock(mutex);
  return tiles.contains(tile);
}

void remove_known(starpu_data_handle_t tile) {
  const std::lock_guard lock(mutex);
  tiles.erase(tile);
  count = tiles.size();
}

}  // namespace tessera::detail::unwritten
