// SPDX-License-Identifier: BSD-3-Clause
#include "running.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "accounting.hpp"
#include "declining.hpp"
#include "measuring.hpp"
#include "placing.hpp"
#include "stealing.hpp"

namespace tessera::scheduler {

namespace {

auto find_popped(Worker& worker, TaskId task) {
  return std::ranges::find_if(worker.popped, [task](const Worker::Popped& popped) { return popped.task->id == task; });
}

/// Ends a submitted task, if it has not ended.
/// @returns  its flops
double end(State& state, TaskId task) {
  const auto* const submitted = state.unfinished.find(task);
  if (submitted == nullptr) return 0;
  const double flops = submitted->flops;
  if (flops <= 0) state.silent--;
  state.unfinished_positions.remove(submitted->order);
  state.unfinished.erase(task);
  state.unfinished_flops = state.unfinished.empty() ? 0 : state.unfinished_flops - flops;
  return flops;
}

int wake_for(State& state, const Task& task) {
  const auto is_sleeper = [&](const Worker* worker) { return worker->asleep && can_execute(*worker, task); };
  const int home = task.output != nullptr ? state.chains.home(task.output) : no_worker;
  auto* sleeper = home != no_worker ? find_worker(state, home) : nullptr;
  if (sleeper == nullptr || !sleeper->present || !is_sleeper(sleeper)) {
    // A core that would leave the task to a GPU is not woken: it would only take the lock from the GPUs. It polls
    // anyway.
    std::optional<bool> cores_leave;  // computed once, since all cores decide alike
    const auto is_wanted = [&](const Worker* worker) {
      if (!is_sleeper(worker)) return false;
      if (!state.workers_poll || worker->kind != cpu_kind) return true;
      if (!cores_leave) cores_leave = leave_to_faster(state, *worker, task);
      return !*cores_leave;
    };
    const auto first = std::ranges::find_if(state.members, is_wanted);
    if (first == state.members.end()) return no_worker;
    sleeper = *first;
  }
  sleeper->asleep = false;
  return sleeper->id;
}

/// Forgets a task that a worker has run, and whose end another thread reports. Its duration is not known.
void forget_popped(State& state, TaskId task) {
  for (const auto& worker : state.workers) {  // also those that have left the context
    if (worker == nullptr) continue;
    const auto popped = find_popped(*worker, task);
    if (popped == worker->popped.end()) continue;
    state.durations.outlived(*popped->task);
    worker->popped.erase(popped);
    return;
  }
}

}  // namespace

void task_submitted(State& state, TaskId task, const std::vector<TileUse>& tiles, int priority, double flops) {
  if (state.unfinished.contains(task)) return;
  auto* const output = output_of(tiles);
  state.is_in_order = state.unfinished.empty() || (state.is_in_order && priority <= state.last_priority);
  state.last_priority = priority;
  state.unfinished[task] = {++state.submitted, flops};
  state.unfinished_positions.add();
  state.unfinished_flops += flops;
  if (flops <= 0) state.silent++;
  note_uses(state, tiles);
  if (output != nullptr) state.chains.submitted(output, flops);
}

int task_ready(State& state, TaskPtr task) {
  const auto& ready = *task;
  if (const auto* submitted = state.unfinished.find(ready.id); submitted != nullptr) task->order = submitted->order;
  find_executors(state, *task);
  choose_home(state, *task);
  leave_chain(state, *task);
  offer_to_idle(state, *task);
  place(state, std::move(task));
  state.waiting++;
  return wake_for(state, ready);
}

void task_popped(State& state, Worker& worker, ReservationStation::Slot slot) {
  auto awaited = state.cache.distributed() ? state.cache.missing(*slot.task, worker.node) : std::vector<TileId>{};
  worker.popped.push_back({std::move(slot.task), std::move(awaited), slot.large});
  state.waiting--;
  state.counts.tasks++;
  if (worker.has_large_task()) state.large_fetcher = worker.id;
}

bool task_starts(State& state, TaskId task, int id, double now, bool outlives) {
  if (state.large_fetcher == id) state.large_fetcher = no_worker;
  auto* worker = find_worker(state, id);
  if (worker == nullptr) return false;
  const auto popped = find_popped(*worker, task);
  if (popped == worker->popped.end()) {
    end(state, task);
    return false;
  }
  if (!worker->runs()) count_idle(state, *worker, now);
  popped->started = now;
  popped->was_known = predicted_seconds(state, *worker, *popped->task) > 0;
  worker->idle_since = 0;
  worker->started = now;
  if (outlives) {
    state.durations.outlived(*popped->task);
    worker->popped.erase(popped);
  }
  return true;
}

std::vector<TileId> task_ends(State& state, TaskId task, const std::vector<TileUse>& tiles, int id, double now) {
  state.now = now;
  const double flops = end(state, task);
  auto* const output = output_of(tiles);
  if (output != nullptr) state.chains.finished(output, flops);
  auto* worker = id == no_worker ? nullptr : find_worker(state, id);
  const bool is_own = worker != nullptr && find_popped(*worker, task) != worker->popped.end();
  if (!is_own) forget_popped(state, task);
  if (worker == nullptr) return results_of_ended(state, tiles, host_node);
  if (is_own) {
    const auto popped = find_popped(*worker, task);
    if (const double seconds = now - popped->started; popped->started > 0) {
      note_measurement(state, *worker, *popped, seconds);
      if (worker->node != host_node) note_duration(state, seconds);
    }
    worker->popped.erase(popped);
    for (auto& next : worker->popped)  // it has waited for this one
      if (next.started > 0) next.started = now;
    worker->idle_since = now, worker->idle_for_data = worker->has_work();
  }
  return results_of_ended(state, tiles, worker->node);
}

void set_waits(State& state, Worker& worker, bool waits) {
  state.waiting_workers += static_cast<int>(waits) - static_cast<int>(worker.waits);
  worker.waits = waits;
}

std::vector<int> wake_others(State& state, int caller) {
  const Kinds left_to = std::exchange(state.declined_for, 0);
  if (left_to == 0 && state.waiting_workers == 0) return {};
  std::vector<int> sleepers;
  for (auto* worker : state.members)
    if (worker->id != caller && (worker->waits || (bit(worker->kind) & left_to) != 0) && worker->asleep.exchange(false))
      sleepers.push_back(worker->id);
  return sleepers;
}

}  // namespace tessera::scheduler
