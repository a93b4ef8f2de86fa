// SPDX-License-Identifier: BSD-3-Clause
#include "waiting.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "choosing.hpp"
#include "relaying.hpp"

namespace tessera::scheduler {

namespace {

using Slot = ReservationStation::Slot;

bool reads(const Task& task, TileId tile) {
  return std::ranges::any_of(task.tiles, [&](const TileUse& use) { return use.tile == tile && use.reads; });
}

/// Whether a peer awaits a tile that the task reads and its worker does not have.
bool has_awaited(const State& state, const Worker& worker, const Task& task) {
  return std::ranges::any_of(task.tiles, [&](const TileUse& use) {
    return use.reads && !state.cache.valid(use.tile, worker.node) &&
           (awaited_by_a_peer(state, worker, use.tile) || comes_through_relay(state, worker, use.tile));
  });
}

/// Whether all missing tiles of a task have been requested.
bool arrives(const State& state, const Worker& worker, const Task& task) {
  return std::ranges::all_of(state.cache.missing(task, worker.node),
                             [&](TileId tile) { return state.cache.arriving(tile, worker.node); });
}

/// The time for the link to the host to bring all tiles that the reserved tasks miss [s].
double seconds_until_all_have_arrived(const State& state, const Worker& worker) {
  std::size_t bytes = 0;
  std::set<TileId> counted;
  for (const auto& slot : worker.station.slots())
    for (const auto& use : slot.task->tiles)
      if (use.reads && !state.cache.valid(use.tile, worker.node) && counted.insert(use.tile).second) bytes += use.bytes;
  return state.cache.seconds(0, bytes, worker.node);
}

/// Whether the link has had no time yet to bring all tiles. Waits are limited, because a request may find no room until
/// its task is popped.
bool may_postpone(const State& state, Worker& worker, double now) {
  if (worker.postpones_until == 0) worker.postpones_until = now + seconds_until_all_have_arrived(state, worker);
  return now < worker.postpones_until;
}

/// Whether the worker should wait before it pops a task whose tiles are still on their way. Once it has popped the
/// task, it cannot start another one before those tiles arrive, although a peer may receive the tile that another of
/// its tasks needs.
bool postpones(const State& state, Worker& worker, const Task& task, double now) {
  return std::ranges::any_of(worker.station.slots(), &Slot::waits) && arrives(state, worker, task) &&
         may_postpone(state, worker, now);
}

/// Whether the worker should wait if a peer receives a tile for each of its tasks: if a task of the peer awaits the
/// tile, or may be about to. A program that suggests homes may have requested the tile before the peer knows of its
/// task.
bool leaves_to_peers(const State& state, Worker& worker, double now) {
  const auto& slots = worker.station.slots();
  const auto awaits = [&](const Slot& slot) { return has_awaited(state, worker, *slot.task); };
  const auto has_home = [&](const Slot& slot) {
    return slot.task->output != nullptr && state.backend.suggested_home(slot.task->output) != no_worker;
  };
  return std::ranges::any_of(slots, awaits) ||
         (std::ranges::any_of(slots, has_home) && may_postpone(state, worker, now));
}

}  // namespace

bool awaited_by_a_peer(const State& state, const Worker& worker, TileId tile) {
  const auto popped_with_it = [tile](const Worker::Popped& popped) {
    return !popped.started && std::ranges::find(popped.awaited, tile) != popped.awaited.end();
  };
  const auto reserved_with_it = [tile](const Slot& slot) { return slot.prefetched && reads(*slot.task, tile); };
  return std::ranges::any_of(state.members, [&](const Worker* other) {
    return state.cache.is_peer(other->node, worker.node) && !state.cache.valid(tile, other->node) &&
           (std::ranges::any_of(other->popped, popped_with_it) ||
            std::ranges::any_of(other->station.slots(), reserved_with_it));
  });
}

std::optional<Slot> next_task(const State& state, Worker& worker, double now) {
  const auto& slots = worker.station.slots();
  if (slots.empty()) {
    worker.postpones_until = 0;
    return std::nullopt;
  }
  const auto has_all = [&](const Slot& slot) { return state.cache.has_all(*slot.task, worker.node); };
  auto chosen = std::ranges::find_if(slots, has_all);
  if (chosen != slots.end() && std::next(chosen) != slots.end()) {
    const double rate = rate_of_all(state, worker, *chosen->task);
    const auto length = [&](const Slot& slot) { return state.chains.length(slot.task->output); };
    for (auto other = std::next(chosen); other != slots.end(); ++other)
      if (is_last_chain(state, *other->task, rate) && length(*other) > length(*chosen) && has_all(*other))
        chosen = other;
  }
  if (chosen == slots.end()) {
    if (!worker.popped.empty()) return std::nullopt;  // tasks that end may release tiles or tasks
    chosen = std::ranges::find(slots, false, &Slot::waits);
    if (chosen == slots.end()) {
      if (leaves_to_peers(state, worker, now)) return std::nullopt;
      chosen = slots.begin();
    } else if (postpones(state, worker, *chosen->task, now)) {
      return std::nullopt;
    }
  }
  worker.postpones_until = 0;
  return worker.station.remove(static_cast<std::size_t>(chosen - slots.begin()));
}

}  // namespace tessera::scheduler
