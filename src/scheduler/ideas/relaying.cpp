// SPDX-License-Identifier: BSD-3-Clause
#include "relaying.hpp"

#include <algorithm>
#include <set>

#include "memory_limits.hpp"
#include "state.hpp"

namespace tessera::scheduler {

namespace {

constexpr double patience = 2;  ///< how long to wait for a relayed tile, relative to the expected time

/// The relay that a worker has chosen for a tile, but whose request StarPU may not know yet.
const Relay* relay_being_issued(const Worker& worker, TileId tile) {
  for (const auto& slot : worker.station.slots())
    if (slot.issuing)
      for (const auto& relay : slot.relays)
        if (relay.tile == tile) return &relay;
  return nullptr;
}

}  // namespace

double seconds_to_load(const State& state, const Worker& worker) {
  std::set<TileId> counted;
  std::size_t bytes = 0;
  const auto comes_from_host = [&](TileId tile) {
    return !state.cache.valid(tile, worker.node) && std::ranges::none_of(state.members, [&](const Worker* other) {
      return state.cache.is_peer(other->node, worker.node) && state.cache.valid(tile, other->node);
    });
  };
  const auto add = [&](const Task& task, TileId tile) {
    if (!counted.insert(tile).second || !comes_from_host(tile)) return;
    bytes += std::ranges::find(task.tiles, tile, &TileUse::tile)->bytes;
  };
  for (const auto& popped : worker.popped)
    for (auto* const tile : popped.awaited) add(*popped.task, tile);
  for (const auto& slot : worker.station.slots())
    for (auto* const tile : slot.counted) add(*slot.task, tile);
  for (const auto* other : state.members)
    for (const auto& slot : other->station.slots())
      for (const auto& relay : slot.relays)
        if (relay.node == worker.node) add(*slot.task, relay.tile);
  return state.cache.seconds(0, bytes, worker.node);
}

double& Relays::load(const Worker& worker) {
  const auto [known, is_new] = loads_.try_emplace(worker.id, 0);
  if (is_new) known->second = seconds_to_load(state_, worker);
  return known->second;
}

bool Relays::may_relay(const Worker& other, const Task& task) const {
  return state_.cache.is_peer(other.node, worker_.node) && !state_.cache.shares_host_link(other.node, worker_.node) &&
         can_execute(other, task) && !other.has_large_task() && other.memory > 0 && all_fit(state_, other, task);
}

std::optional<Relay> Relays::choose(const Task& task, const TileUse& use) {
  const auto& cache = state_.cache;
  if (!state_.options.wait || !state_.options.relay || !use.reads || task.output == nullptr ||
      state_.backend.suggested_home(task.output) != no_worker ||
      cache.level(use.tile, worker_.node) != TileCache::Level::Far || !cache.valid(use.tile, host_node))
    return std::nullopt;
  const auto loads_itself = [&]() -> std::optional<Relay> {
    if (const auto known = loads_.find(worker_.id); known != loads_.end())
      known->second += cache.seconds(0, use.bytes, worker_.node);
    return std::nullopt;
  };
  if (!use.only_reads) return loads_itself();
  for (const auto* other : state_.members)
    if (const auto* relay = relay_being_issued(*other, use.tile); relay != nullptr)
      return cache.is_peer(relay->node, worker_.node) ? std::optional(Relay{.tile = use.tile, .node = relay->node})
                                                      : std::nullopt;
  const auto* const uses = state_.results.tiles.find(use.tile);
  const auto gpus = std::ranges::count_if(state_.members, [](const Worker* other) { return other->node != host_node; });
  if (uses == nullptr || uses->unfinished < static_cast<std::size_t>(gpus) || !all_fit(state_, worker_, task))
    return loads_itself();
  const auto seconds = [&](const Worker& worker) { return load(worker) + cache.seconds(0, use.bytes, worker.node); };
  const double to_copy = cache.seconds(use.bytes, 0, worker_.node);
  const Worker* best = &worker_;
  double earliest = seconds(worker_);
  for (const auto* other : state_.members)
    if (may_relay(*other, task) && seconds(*other) + to_copy < earliest)
      best = other, earliest = seconds(*other) + to_copy;
  if (best == &worker_) return loads_itself();
  load(*best) += cache.seconds(0, use.bytes, best->node);
  return Relay{.tile = use.tile, .node = best->node, .until = state_.now + patience * earliest};
}

bool has_relays(const State& state) {
  return std::ranges::any_of(state.members, [](const Worker* worker) {
    return std::ranges::any_of(worker->station.slots(), [](const auto& slot) { return !slot.relays.empty(); });
  });
}

bool comes_through_relay(const State& state, const Worker& worker, TileId tile) {
  const auto awaits = [&](const ReservationStation::Slot& slot) {
    return std::ranges::any_of(slot.relays, [&](const Relay& relay) {
      return relay.tile == tile && state.now < relay.until && state.cache.is_peer(relay.node, worker.node) &&
             (slot.issuing || state.cache.arriving(tile, relay.node));
    });
  };
  return std::ranges::any_of(state.members,
                             [&](const Worker* other) { return std::ranges::any_of(other->station.slots(), awaits); });
}

}  // namespace tessera::scheduler
