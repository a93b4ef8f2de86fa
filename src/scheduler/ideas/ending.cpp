// SPDX-License-Identifier: BSD-3-Clause
#include "ending.hpp"

#include <algorithm>
#include <limits>

namespace tessera::scheduler {

namespace {

/// Predictions take time under the policy's lock, so longer queues are not added up.
constexpr int most_before = 64;

}  // namespace

double seconds_until_free(const State& state, const Worker& worker) {
  double seconds = 0;
  for (const auto& popped : worker.popped) {
    const double whole = predicted_seconds(state, worker, *popped.task);
    seconds += popped.started > 0 ? std::max(0.0, whole - (state.now - popped.started)) : whole;
  }
  return seconds;
}

double seconds_until_ended(const State& state, const Worker& worker, const Task& task, double enough) {
  double seconds = seconds_until_free(state, worker) + predicted_seconds(state, worker, task);
  if (state.cache.distributed()) seconds += state.cache.seconds_to_move(task, worker.node);
  int before = 0;
  const auto add = [&](const auto& tasks, auto task_in) {
    for (const auto& entry : tasks) {
      if (seconds > enough || !RunsBefore{}(task_in(entry), task)) return;
      if (++before > most_before) seconds = std::numeric_limits<double>::infinity();
      seconds += predicted_seconds(state, worker, task_in(entry));
    }
  };
  add(worker.station.slots(), [](const ReservationStation::Slot& slot) -> const Task& { return *slot.task; });
  add(worker.bound.tasks(), [](const TaskPtr& queued) -> const Task& { return *queued; });
  return seconds;
}

unsigned long needed_first(const State& state, const Task& task) {
  unsigned long first = 0;
  for (const auto& use : task.tiles) {
    const auto* const tile = use.writes ? state.results.tiles.find(use.tile) : nullptr;
    if (tile == nullptr) continue;
    const auto user = tile->coupled > 0 ? tile->pending.next_use(task.order) : tile->pending.first_reader(task.order);
    if (user > 0 && (first == 0 || user < first)) first = user;
  }
  return first;
}

double seconds_until_needed(const State& state, const Task& task) {
  const auto is_gpu = [](const Worker* worker) { return worker->kind != cpu_kind; };
  const auto gpus = std::ranges::count_if(state.members, is_gpu);
  if (!state.is_in_order || gpus == 0) return 0;
  const auto user = needed_first(state, task);
  const auto before = user > 0 ? state.unfinished_positions.count_before(user) : state.unfinished.size();
  return static_cast<double>(before - 1) * state.results.task_seconds / static_cast<double>(gpus);  // without the task
}

}  // namespace tessera::scheduler
