// SPDX-License-Identifier: BSD-3-Clause
#include "turn.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "accounting.hpp"
#include "choosing.hpp"
#include "membership.hpp"
#include "memory_limits.hpp"
#include "placing.hpp"
#include "relaying.hpp"
#include "running.hpp"
#include "waiting.hpp"

namespace tessera::scheduler {

namespace {

using Slot = ReservationStation::Slot;

/// Takes the task that a worker starts now out of its reservation station, if there is one.
std::optional<Slot> take(State& state, Worker& worker, double now, Prefetches& prefetches) {
  if (worker.has_large_task() && state.large_fetcher != no_worker) return std::nullopt;
  auto slot = next_task(state, worker, now);
  if (!slot) return std::nullopt;
  const auto task = slot->task->id;
  std::erase(prefetches.tasks, task);  // StarPU fetches its tiles right away
  if (const auto number = state.backend.implementation(task, worker.id)) {
    state.backend.set_implementation(task, *number);
    if (slot->task->restricted) slot->task->implementation = *number;
    return slot;
  }
  place_again(state, give_up(state, std::move(*slot), worker.node));  // the codelet has changed its answer
  return std::nullopt;
}

}  // namespace

Turn take_turn(State& state, Worker& worker, double now) {
  Turn turn;
  state.now = now;
  // A CPU worker that asks for a task is not running any. If tasks that it has popped have not ended, they are
  // suspended (OpenMP), or end together with other tasks. The worker must not wait for them.
  if (worker.kind == cpu_kind) worker.popped.clear();
  fill_station(state, worker);
  if (worker.station.empty() && state.waiting > 0) look_around(state, now);
  if (state.options.prefetch && state.cache.distributed() && !worker.station.empty() && !worker.has_large_task())
    turn.prefetches = fetch_ahead(state, worker);
  const auto reserved = worker.station.size();
  auto slot = take(state, worker, now, turn.prefetches);
  worker.asleep = !slot;
  set_waits(state, worker, !slot && worker.popped.empty() && !worker.station.empty());
  if (slot) {
    turn.task = slot->task->id;
    turn.too_large = slot->large && !fits(state, worker, *slot->task);
    task_popped(state, worker, std::move(*slot));
    worker.polling.found();
  } else {
    const bool beside_gpus = worker.kind == cpu_kind && state.kinds.size() > 1;
    worker.polling.found_none(now, !worker.station.empty(), beside_gpus ? state.kinds[cpu_kind].size() : 0);
    if (worker.station.size() < reserved) turn.look_again = Polling::with_reserved;  // there may be another task
    else if (worker.waits)  // no event ends the wait for a relay that has no room
      turn.look_again = std::max(worker.postpones_until - now, has_relays(state) ? Polling::with_reserved : 0);
    else if (has_refused(state)) turn.look_again = look_interval;
  }
  if (!worker.runs()) count_idle(state, worker, now);
  turn.wake = wake_others(state, worker.id);
  return turn;
}

}  // namespace tessera::scheduler
