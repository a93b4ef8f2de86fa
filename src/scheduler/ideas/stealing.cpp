// SPDX-License-Identifier: BSD-3-Clause
#include "stealing.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "declining.hpp"
#include "ending.hpp"

namespace tessera::scheduler {

namespace {

/// Whether the thief may take a task. It leaves large tasks, because after one of them it could not steal any more.
bool may_take(const State& state, const Worker& thief, const Task& task) {
  return can_execute(thief, task) && !is_large(state, thief, task);
}

/// Whether the tiles of the next task that a worker has popped have arrived.
bool starts_at_once(const State& state, const Worker& worker) {
  return !worker.popped.empty() && state.cache.has_all(*worker.popped.front().task, worker.node);
}

/// Whether a worker has a task that the thief may take. Only the tasks at the end of its queue count.
bool has_task_for(const State& state, const Worker& thief, const Worker& worker) {
  int left = state.options.window;
  const auto& bound = worker.bound.tasks();
  for (auto task = bound.rbegin(); task != bound.rend() && left-- > 0; ++task)
    if (may_take(state, thief, **task)) return true;
  return std::ranges::any_of(worker.station.slots(), [&](const ReservationStation::Slot& slot) {
    return !slot.issuing && may_take(state, thief, *slot.task);
  });
}

/// A task of the victim, and the time to move its tiles to the thief.
struct Loot {
  const Task* task = nullptr;
  double seconds_to_move = std::numeric_limits<double>::infinity();
  std::optional<ReadyQueue::Tasks::const_iterator>
      queued;            ///< its position in the victim's queue; empty: it is reserved
  std::size_t slot = 0;  ///< if it is reserved: its position in the victim's station
};

/// Whether the task waits until a tile that it writes has arrived in the victim's memory, wherever the task runs.
bool waits_for_copy_to(const State& state, const Worker& victim, const Worker& thief, const Task& task) {
  return victim.node != thief.node && task.output != nullptr && state.cache.arriving(task.output, victim.node);
}

/// The task that is cheapest to move. Queued tasks come before reserved tasks. Reserved tasks whose tiles have been
/// prefetched come later, because these tiles stay with the victim, and last those whose result is still on its way.
Loot find_cheapest(const State& state, const Worker& thief, const Worker& victim) {
  Loot best;
  const auto is_cheaper = [&](const Task& task) {
    if (!may_take(state, thief, task)) return false;
    const double seconds = state.cache.distributed() ? state.cache.seconds_to_move(task, thief.node) : 0;
    if (seconds >= best.seconds_to_move) return false;
    best.task = &task, best.seconds_to_move = seconds;
    return true;
  };
  int left = state.options.window;
  const auto& bound = victim.bound.tasks();
  for (auto task = bound.rbegin(); task != bound.rend() && left-- > 0; ++task)
    if (is_cheaper(**task)) best.queued = std::prev(task.base());
  enum class Turn { NotPrefetched, Arrived, Any };
  for (const auto turn : {Turn::NotPrefetched, Turn::Arrived, Turn::Any}) {
    if (best.task != nullptr) break;
    for (std::size_t i = victim.station.size(); i-- > 0;) {
      const auto& slot = victim.station.slots()[i];
      if (slot.issuing || slot.prefetched == (turn == Turn::NotPrefetched)) continue;
      if (turn == Turn::Arrived && waits_for_copy_to(state, victim, thief, *slot.task)) continue;
      if (is_cheaper(*slot.task)) best.slot = i;
    }
  }
  return best;
}

/// Whether the thief would finish clearly before the victim if the task's chain moved. If both finished at about the
/// same time, the thief might only wait for tiles that others compute. If others wait for the result of the task, only
/// this task counts: most tasks of both workers probably wait for the results of others, too. A program that suggests
/// homes has distributed the chains itself.
bool pays(const State& state, const Worker& thief, const Worker& victim, const Loot& loot) {
  if (!state.cache.distributed()) return true;
  const auto or_one = [](double seconds) { return seconds > 0 ? seconds : 1; };
  const double there = or_one(predicted_seconds(state, victim, *loot.task)),
               here = or_one(predicted_seconds(state, thief, *loot.task)), move = loot.seconds_to_move;
  // A victim that runs nothing waits for its first tiles. When they arrive, it runs its popped and ready tasks, for
  // whose results other workers may be waiting. If the program suggests homes, it may not have submitted the thief's
  // own tasks yet.
  const auto ready = static_cast<double>(victim.backlog() + victim.popped.size());
  const bool computes = victim.runs() || (victim.started > 0 && starts_at_once(state, victim));
  const bool has_home = loot.task->output != nullptr && state.backend.suggested_home(loot.task->output) == victim.id;
  if (!computes && (has_home || ready * there <= move + here)) return false;
  const auto stolen = state.options.chains ? state.chains.length(loot.task->output) : 1;
  const auto own = static_cast<double>(state.chains.unfinished(thief.id) + stolen),
             others = static_cast<double>(std::max(state.chains.unfinished(victim.id), victim.backlog()));
  const bool are_known =
      predicted_seconds(state, victim, *loot.task) > 0 && predicted_seconds(state, thief, *loot.task) > 0;
  if (are_known && has_readers(state, *loot.task) && state.backend.suggested_home(loot.task->output) == no_worker) {
    const double end = clearly * (seconds_until_free(state, thief) + move + here);
    return seconds_until_ended(state, victim, *loot.task, end) > end;
  }
  return others * there > move + clearly * own * here;
}

/// Whether the worker's running tasks, which are about to release the next tasks of their chains, keep it busy. A
/// single short one does not: after each task of one chain, the worker idles until StarPU has released and pushed the
/// next.
bool stays_busy(const State& state, const Worker& worker) {
  const auto running = worker.popped.size();
  if (running == 0 || state.chains.unfinished(worker.id) <= running) return false;
  constexpr double until_next = 10e-6, most_idle = 0.1;  // [s], 6 to 9 us on the host of an H200
  const double seconds = predicted_seconds(state, worker, *worker.popped.front().task);
  return running > 1 || seconds == 0 || until_next <= most_idle * (until_next + seconds);
}

}  // namespace

Worker* find_victim(const State& state, const Worker& thief) {
  Worker* victim = nullptr;
  double longest = 0;
  for (auto* other : state.members) {
    if (other == &thief || other->backlog() == 0) continue;
    const auto& first = other->bound.empty() ? *other->station.slots().front().task : other->bound.front();
    const double one = predicted_seconds(state, *other, first);
    const double busy = static_cast<double>(other->backlog()) * (one > 0 ? one : 1e-9);
    if (busy > longest && has_task_for(state, thief, *other)) victim = other, longest = busy;
  }
  return victim;
}

void offer_to_idle(State& state, const Task& task) {
  if (!state.options.steal || !state.options.chains || task.output == nullptr || !state.cache.distributed()) return;
  if (state.backend.suggested_home(task.output) != no_worker) return;
  const int home = state.chains.home(task.output);
  const auto* const victim = home != no_worker ? find_worker(state, home) : nullptr;
  if (victim == nullptr || !starts_at_once(state, *victim)) return;
  for (const auto* thief : state.members) {
    if (thief->node == host_node || !thief->asleep || thief->has_work() || !may_take(state, *thief, task)) continue;
    const Loot loot{.task = &task, .seconds_to_move = state.cache.seconds_to_move(task, thief->node), .queued = {}};
    if (leave_to_faster(state, *thief, task) || !pays(state, *thief, *victim, loot)) continue;
    state.counts.steals++;
    state.chains.set_home(task.output, thief->id);
    return;
  }
}

TaskPtr steal(State& state, Worker& thief) {
  if (state.cache.distributed() && stays_busy(state, thief)) return nullptr;
  auto* const victim = find_victim(state, thief);
  if (victim == nullptr) return nullptr;
  const auto loot = find_cheapest(state, thief, *victim);
  if (loot.task == nullptr || leave_to_faster(state, thief, *loot.task) || !pays(state, thief, *victim, loot))
    return nullptr;
  state.counts.steals++;
  return loot.queued ? victim->bound.take(*loot.queued) : take_reserved(state, *victim, loot.slot);
}

}  // namespace tessera::scheduler
