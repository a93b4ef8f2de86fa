// SPDX-License-Identifier: BSD-3-Clause
#include "reservation_station.hpp"

#include <algorithm>

namespace tessera::scheduler {

namespace {

/// Whether a peer needs one of the tiles that a task reads and that are not there.
bool has_awaited(starpu_task* task, unsigned node, const std::function<bool(starpu_data_handle_t)>& awaited) {
  bool any = false;
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    any = any || ((mode & STARPU_R) != 0 && !TileCache::valid(tile, node) && awaited(tile));
  });
  return any;
}

/// What a tile needs, but for a result that is there already.
std::size_t bytes_to_hold(starpu_data_handle_t tile, int mode, unsigned node) {
  return (mode & STARPU_W) != 0 && TileCache::valid(tile, node) ? 0 : starpu_data_get_alloc_size(tile);
}

}  // namespace

std::size_t ReservationStation::additional_bytes(const ReadyTask& task, unsigned node) const {
  std::size_t bytes = 0;
  for_each_tile(task.task, [&](starpu_data_handle_t tile, int mode) {
    if (!uses_.contains(tile)) bytes += bytes_to_hold(tile, mode, node);
  });
  return bytes;
}

void ReservationStation::reserve(const ReadyTask& task, unsigned node, bool wide) {
  const auto later = std::ranges::find_if(slots_, [&](const Slot& slot) { return RunsBefore{}(task, slot.task); });
  slots_.insert(later, {.task = task, .wide = wide});
  for_each_tile(task.task, [&](starpu_data_handle_t tile, int mode) {
    auto& use = uses_[tile];
    if (use.tasks++ > 0) return;
    use.bytes = bytes_to_hold(tile, mode, node);
    bytes_ += use.bytes;
  });
}

ReservationStation::Prefetches ReservationStation::to_prefetch(const TileCache& cache, AbandonedTiles& abandoned,
                                                               unsigned node, bool wait_for_peers) {
  Prefetches prefetches;
  for (auto& slot : slots_) {
    if (slot.prefetched) continue;
    auto* const task = slot.task.task;
    const auto at_a_peer = [&](starpu_data_handle_t tile) {
      return wait_for_peers && cache.on_its_way_to_a_peer(tile, node);
    };
    slot.waits = std::ranges::any_of(read_by(task), at_a_peer);
    slot.prefetched = !slot.waits;
    bool keep = false;
    if (slot.prefetched) {
      if (!abandoned.empty() && TileCache::at_hand(task, node)) slot.kept = abandoned.take_over(task, node);
      // StarPU lowers the counts for a prefetched task. One that takes over is not counted itself.
      if (!slot.kept.empty()) task->prefetched = 1;
      else keep = is_to_be_kept(task);
    }
    if (keep) {
      slot.kept = read_by(task);
      slot.issuing = true;
      prefetches.tasks.push_back(task);
      continue;
    }
    for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
      if (!may_fetch_alone(tile, mode)) return;
      if (slot.waits && (at_a_peer(tile) || TileCache::valid(tile, node) || TileCache::arriving(tile, node))) return;
      slot.issuing = true;
      prefetches.tiles.push_back({tile, slot.task.priority});
    });
  }
  return prefetches;
}

void ReservationStation::issued() {
  for (auto& slot : slots_) slot.issuing = false;
}

std::optional<ReservationStation::Slot> ReservationStation::next(
    unsigned node, bool idle, const std::function<bool(starpu_data_handle_t)>& awaited) {
  if (slots_.empty()) return std::nullopt;
  auto chosen = std::ranges::find_if(slots_, [node](const Slot& s) { return TileCache::at_hand(s.task.task, node); });
  if (chosen == slots_.end()) {
    if (!idle) return std::nullopt;
    chosen = std::ranges::find(slots_, false, &Slot::waits);
    if (chosen == slots_.end()) {
      if (std::ranges::any_of(slots_, [&](const Slot& s) { return has_awaited(s.task.task, node, awaited); }))
        return std::nullopt;
      chosen = slots_.begin();
    }
  }
  return remove(static_cast<std::size_t>(chosen - slots_.begin()));
}

ReservationStation::Slot ReservationStation::remove(std::size_t index) {
  const auto position = slots_.begin() + static_cast<std::ptrdiff_t>(index);
  Slot slot = *position;
  slots_.erase(position);
  for_each_tile(slot.task.task, [&](starpu_data_handle_t tile, int) {
    const auto use = uses_.find(tile);
    if (--use->second.tasks > 0) return;
    bytes_ -= use->second.bytes;
    uses_.erase(use);
  });
  return slot;
}

}  // namespace tessera::scheduler
