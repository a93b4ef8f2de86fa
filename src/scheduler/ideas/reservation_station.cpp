// SPDX-License-Identifier: BSD-3-Clause
#include "reservation_station.hpp"

#include <algorithm>
#include <utility>

namespace tessera::scheduler {

namespace {

std::size_t bytes_needed(const TileUse& use, const TileCache& cache, unsigned node) {
  return use.writes && cache.valid(use.tile, node) ? 0 : use.memory;
}

}  // namespace

std::size_t ReservationStation::additional_bytes(const Task& task, const TileCache& cache, unsigned node) const {
  std::size_t bytes = 0;
  for (const auto& use : task.tiles)
    if (!uses_.contains(use.tile)) bytes += bytes_needed(use, cache, node);
  return bytes;
}

void ReservationStation::reserve(TaskPtr task, const TileCache& cache, unsigned node, bool large) {
  for (const auto& tile : task->tiles) {
    auto& use = uses_[tile.tile];
    if (use.tasks++ > 0) continue;
    use.bytes = bytes_needed(tile, cache, node);
    bytes_ += use.bytes;
  }
  const auto later = std::ranges::find_if(slots_, [&](const Slot& slot) { return RunsBefore{}(task, slot.task); });
  slots_.insert(later, Slot{.task = std::move(task), .large = large});
}

ReservationStation::Slot ReservationStation::remove(std::size_t index) {
  const auto position = slots_.begin() + static_cast<std::ptrdiff_t>(index);
  Slot slot = std::move(*position);
  slots_.erase(position);
  for (const auto& tile : slot.task->tiles) {
    auto& use = *uses_.find(tile.tile);
    if (--use.tasks > 0) continue;
    bytes_ -= use.bytes;
    uses_.erase(tile.tile);
  }
  return slot;
}

}  // namespace tessera::scheduler
