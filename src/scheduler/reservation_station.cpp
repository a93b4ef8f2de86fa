// SPDX-License-Identifier: BSD-3-Clause
#include "reservation_station.hpp"

#include <algorithm>

namespace tessera::scheduler {

namespace {

/// Whether one of a task's tiles is being copied to the node, or to a peer.
bool something_arrives(const TileCache& cache, starpu_task* task, unsigned node) {
  bool arrives = false;
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    arrives = arrives || ((mode & STARPU_R) != 0 && cache.loading_nearby(tile, node));
  });
  return arrives;
}

}  // namespace

std::size_t ReservationStation::reserve(const ReadyTask& task) {
  const auto later = std::ranges::find_if(slots_, [&](const Slot& slot) { return RunsBefore{}(task, slot.task); });
  const auto bytes = bytes_of(task.task);
  slots_.insert(later, {task, bytes});
  bytes_ += bytes;
  return bytes;
}

ReservationStation::Prefetches ReservationStation::to_prefetch(const TileCache& cache, unsigned node,
                                                               bool wait_for_peers) {
  Prefetches prefetches;
  for (auto& slot : slots_) {
    if (slot.prefetched) continue;
    std::vector<starpu_data_handle_t> others;
    slot.waits = false;
    for_each_tile(slot.task.task, [&](starpu_data_handle_t tile, int mode) {
      if ((mode & STARPU_R) == 0) return;
      if (wait_for_peers && cache.on_its_way_to_a_peer(tile, node)) slot.waits = true;
      else if (!TileCache::valid(tile, node) && !TileCache::arriving(tile, node)) others.push_back(tile);
    });
    if (slot.waits) {
      slot.issuing = !others.empty();
      prefetches.tiles.insert(prefetches.tiles.end(), others.begin(), others.end());
    } else {
      slot.prefetched = slot.issuing = true;
      prefetches.tasks.push_back(slot.task.task);
    }
  }
  return prefetches;
}

void ReservationStation::issued() {
  for (auto& slot : slots_) slot.issuing = false;
}

std::optional<ReservationStation::Slot> ReservationStation::next(const TileCache& cache, unsigned node, bool idle) {
  if (slots_.empty()) return std::nullopt;
  auto chosen = std::ranges::find_if(slots_, [node](const Slot& s) { return TileCache::at_hand(s.task.task, node); });
  if (chosen == slots_.end()) {
    if (!idle) return std::nullopt;
    chosen = std::ranges::find(slots_, false, &Slot::waits);
    if (chosen == slots_.end()) {
      if (std::ranges::any_of(slots_, [&](const Slot& s) { return something_arrives(cache, s.task.task, node); }))
        return std::nullopt;
      chosen = slots_.begin();
    }
  }
  return remove(static_cast<std::size_t>(chosen - slots_.begin()));
}

ReservationStation::Slot ReservationStation::remove(std::size_t index) {
  const auto position = slots_.begin() + static_cast<std::ptrdiff_t>(index);
  const Slot slot = *position;
  slots_.erase(position);
  bytes_ -= slot.bytes;
  return slot;
}

}  // namespace tessera::scheduler
