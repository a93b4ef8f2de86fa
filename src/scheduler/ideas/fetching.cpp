// SPDX-License-Identifier: BSD-3-Clause
#include "fetching.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "memory_limits.hpp"
#include "relaying.hpp"
#include "state.hpp"

namespace tessera::scheduler {

namespace {

std::vector<TileId> tiles_read_by(const Task& task) {
  std::vector<TileId> tiles;
  for (const auto& use : task.tiles)
    if (use.reads) tiles.push_back(use.tile);
  return tiles;
}

/// Whether a GPU that is no peer of the worker has the tile, is receiving it, or will receive it for a reserved task.
bool is_elsewhere(const State& state, const Worker& worker, TileId tile) {
  return std::ranges::any_of(state.members, [&](const Worker* other) {
    return other->node != host_node && !state.cache.is_peer(other->node, worker.node) &&
           (state.cache.valid(tile, other->node) || state.cache.arriving(tile, other->node) ||
            other->station.uses(tile));
  });
}

/// The time for the link from the host to bring the tiles that a worker has requested for its tasks, up to a given tile
/// if that is one of them [s].
double seconds_to_arrive(const State& state, const Worker& worker, TileId last) {
  std::set<TileId> counted;
  std::size_t bytes = 0;
  /// @return  whether that was the last tile
  const auto add = [&](const Task& task) {
    for (const auto& use : task.tiles) {
      // Cheaper to ask than whether the tile is arriving.
      if (!use.reads || state.cache.valid(use.tile, worker.node) || !counted.insert(use.tile).second) continue;
      bytes += use.bytes;
      if (use.tile == last) return true;
    }
    return false;
  };
  const auto add_requested = [&](const ReservationStation::Slot& slot) { return slot.prefetched && add(*slot.task); };
  if (std::ranges::none_of(worker.popped, [&](const Worker::Popped& popped) { return add(*popped.task); }))
    static_cast<void>(std::ranges::any_of(worker.station.slots(), add_requested));
  return state.cache.seconds(0, bytes, worker.node);
}

/// Whether a worker should wait for a tile that is on its way to a peer, and copy it from there. If this spares its
/// link to the host, it leaves more of the host's bandwidth to others. If the copy from the peer takes the same wires,
/// and memory is plentiful, it only pays if it arrives earlier. A program that suggests homes submits in an order in
/// which the GPUs that share a tile use it one after another.
bool waits_for_a_peer(const State& state, const Worker& worker, const Task& task, const TileUse& use) {
  if (!use.reads || !state.options.wait || !state.cache.on_its_way_to_a_peer(use.tile, worker.node)) return false;
  const bool is_home_suggested = task.output != nullptr && state.backend.suggested_home(task.output) != no_worker;
  if (is_home_suggested || !all_fit(state, worker, task)) return true;
  const auto receives = [&](const Worker* other) {
    return state.cache.is_peer(other->node, worker.node) && state.cache.arriving(use.tile, other->node);
  };
  double through_peer = std::numeric_limits<double>::infinity();
  for (const auto* other : state.members) {
    if (!receives(other)) continue;
    if (!state.cache.shares_host_link(other->node, worker.node)) return true;
    through_peer = std::min(through_peer, seconds_to_arrive(state, *other, use.tile));
  }
  return through_peer + state.cache.seconds(use.bytes, 0, worker.node) <=
         seconds_to_arrive(state, worker, nullptr) + state.cache.seconds(0, use.bytes, worker.node);
}

}  // namespace

double seconds_to_fetch(const State& state, const Worker& worker, const Task& task, bool all_fit) {
  const auto peer_reserved = [&](TileId tile) {
    return std::ranges::any_of(state.members, [&](const Worker* other) {
      return state.cache.is_peer(other->node, worker.node) && other->station.uses(tile);
    });
  };
  std::size_t from_peers = 0, from_host = 0;
  for (const auto& use : task.tiles) {
    if (!use.reads || worker.station.uses(use.tile)) continue;
    const auto level = state.cache.level(use.tile, worker.node);
    if (level == TileCache::Level::Own) continue;
    const bool at_a_peer = level == TileCache::Level::Peer || peer_reserved(use.tile);
    if (!at_a_peer && all_fit && use.only_reads && !is_elsewhere(state, worker, use.tile)) continue;
    (at_a_peer ? from_peers : from_host) += use.bytes;
  }
  return state.cache.seconds(from_peers, from_host, worker.node);
}

int hits(const State& state, const Worker& worker, const Task& task) {
  int sum = 0;
  for (const auto& use : task.tiles)
    if (use.reads) sum += static_cast<int>(state.cache.level(use.tile, worker.node));
  return sum;
}

Prefetches fetch_ahead(State& state, Worker& worker) {
  const auto& cache = state.cache;
  const auto node = worker.node;
  Prefetches prefetches;
  std::map<TileId, bool> is_awaited;  // many tasks may read the same tile, and the answer takes long
  Relays relays(state, worker);
  for (auto& slot : worker.station.slots()) {
    if (slot.prefetched) continue;
    const auto& task = *slot.task;
    const auto at_a_peer = [&](const TileUse& use) {
      const auto [known, is_new] = is_awaited.try_emplace(use.tile, false);
      if (!is_new) return known->second;
      if (waits_for_a_peer(state, worker, task, use)) return known->second = true;
      const auto relay = relays.choose(task, use);
      if (!relay) return false;
      if (relay->until > 0) {
        slot.relays.push_back(*relay);
        slot.issuing = true;
        prefetches.relayed.push_back({use.tile, relay->node, task.priority});
      }
      return known->second = true;
    };
    const auto fetched_with_its_task = [&](const TileUse& use) {
      return use.reads && !cache.comes_through_host(use.tile, node);
    };
    slot.waits = std::ranges::count_if(task.tiles, at_a_peer) > 0;  // also relays those after the first
    slot.prefetched = !slot.waits;
    if (slot.prefetched && slot.counted.empty()) {
      if (!state.abandoned.empty() && cache.has_all(task, node)) slot.counted = state.abandoned.take_over(task, node);
      if (!slot.counted.empty()) {
        state.backend.set_counted(task.id, true);
        continue;
      }
      if (std::ranges::all_of(task.tiles, fetched_with_its_task)) {
        slot.counted = tiles_read_by(task);
        slot.issuing = true;
        prefetches.tasks.push_back(task.id);
        continue;
      }
    }
    for (const auto& use : task.tiles) {
      if (!use.reads || std::ranges::find(slot.counted, use.tile) != slot.counted.end()) continue;
      if (slot.waits && (!use.only_reads || !state.backend.may_fetch(use.tile) || at_a_peer(use) ||
                         cache.valid(use.tile, node) || cache.arriving(use.tile, node)))
        continue;
      slot.counted.push_back(use.tile);
      slot.issuing = true;
      prefetches.tiles.push_back({use.tile, task.priority});
    }
    if (!slot.counted.empty()) state.backend.set_counted(task.id, true);
  }
  return prefetches;
}

void fetches_issued(Worker& worker) {
  for (auto& slot : worker.station.slots()) slot.issuing = false;
}

TaskPtr take_reserved(State& state, Worker& worker, std::size_t index) {
  return give_up(state, worker.station.remove(index), worker.node);
}

TaskPtr give_up(State& state, ReservationStation::Slot slot, unsigned node) {
  state.abandoned.add(slot.counted, node);
  state.backend.set_counted(slot.task->id, false);
  return std::move(slot.task);
}

void AbandonedTiles::add(const std::vector<TileId>& tiles, unsigned node) {
  const std::lock_guard lock(mutex_);
  for (auto* const tile : tiles) counts_[{tile, node}]++;
  empty_ = counts_.empty();
}

std::vector<TileId> AbandonedTiles::take_over(const Task& task, unsigned node) {
  auto tiles = tiles_read_by(task);
  const std::lock_guard lock(mutex_);
  std::erase_if(tiles, [&](TileId tile) {
    const auto count = counts_.find({tile, node});
    if (count == counts_.end()) return true;
    if (--count->second == 0) counts_.erase(count);
    return false;
  });
  empty_ = counts_.empty();
  return tiles;
}

void AbandonedTiles::forget(TileId tile) {
  if (empty_) return;
  const std::lock_guard lock(mutex_);
  counts_.erase(counts_.lower_bound({tile, 0}), counts_.upper_bound({tile, std::numeric_limits<unsigned>::max()}));
  empty_ = counts_.empty();
}

}  // namespace tessera::scheduler
