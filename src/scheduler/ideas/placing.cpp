// SPDX-License-Identifier: BSD-3-Clause
#include "placing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ending.hpp"

namespace tessera::scheduler {

bool can_execute(const Worker& worker, const Task& task) {
  if ((task.kinds & bit(worker.kind)) == 0) return false;
  return task.workers.empty() || std::ranges::binary_search(task.workers, worker.id);
}

void find_executors(const State& state, Task& task) {
  task.kinds = 0;
  task.workers.clear();
  for (std::size_t kind = 0; kind < state.kinds.size(); kind++)
    for (const auto* worker : state.kinds[kind]) {
      if (state.backend.implementation(task.id, worker->id)) {
        task.kinds |= bit(static_cast<int>(kind));
        if (task.restricted) task.workers.push_back(worker->id);
      }
      if (!task.restricted) break;  // all workers of a kind give the same answer
    }
  std::ranges::sort(task.workers);
}

void choose_home(State& state, const Task& task) {
  if (!state.options.chains || !state.cache.distributed() || !has_readers(state, task)) return;
  if (state.chains.home(task.output) != no_worker) return;
  const auto has_all = [&](const Worker& worker) { return state.cache.has_all(task, worker.node); };
  std::vector<const Worker*> gpus;
  double earliest = std::numeric_limits<double>::infinity();  // on GPUs that lack tiles
  for (const auto* worker : state.members) {
    if (worker->kind == cpu_kind || !can_execute(*worker, task)) continue;
    const double seconds = predicted_seconds(state, *worker, task);
    if (seconds <= 0) return;
    if (has_all(*worker)) gpus.push_back(worker);
    else earliest = std::min(earliest, state.cache.seconds_to_move(task, worker->node) + seconds);
  }
  if (!std::isfinite(earliest)) return;
  int home = no_worker;
  for (const auto* worker : gpus)
    if (const double end = seconds_until_ended(state, *worker, task, earliest); end < earliest)
      home = worker->id, earliest = end;
  if (home != no_worker) state.chains.set_home(task.output, home);
}

void leave_chain(State& state, const Task& task) {
  if (!state.options.chains || task.output == nullptr || !state.cache.distributed()) return;
  if (state.chains.length(task.output) > 1 || state.backend.suggested_home(task.output) != no_worker) return;
  const int id = state.chains.home(task.output);
  const auto* const home = id != no_worker ? find_worker(state, id) : nullptr;
  if (home == nullptr || !home->present || home->kind == cpu_kind || home->station.empty()) return;
  const auto& other = *home->station.slots().back().task;
  const auto is_another_model = [&](const Worker* worker) { return worker->model != home->model; };
  if (DurationModel::are_alike(task, other) || std::ranges::none_of(state.members, is_another_model)) return;
  const double own = predicted_seconds(state, *home, task), own_other = predicted_seconds(state, *home, other);
  // While some of the tasks before it wait for results, GPUs may reach the task that needs it earlier.
  double latest = seconds_until_needed(state, task) / 2;
  const auto able = [&](const Worker* worker) { return can_execute(*worker, task); };
  for (const auto& workers : state.kinds) {  // all workers of a kind take equally long
    const auto first = std::ranges::find_if(workers, able);
    if (first == workers.end() || !is_another_model(*first)) continue;
    const double seconds = predicted_seconds(state, **first, task),
                 other_seconds = predicted_seconds(state, **first, other);
    const double with_copies = seconds + state.cache.seconds_to_move(task, (*first)->node);
    if (seconds <= 0 || with_copies >= latest || own * other_seconds <= clearly * with_copies * own_other) continue;
    for (const auto* worker : workers) {
      const double end = able(worker) ? seconds_until_ended(state, *worker, task, latest) : latest;
      if (end < latest) latest = end, state.chains.set_home(task.output, worker->id);
    }
  }
}

void place(State& state, TaskPtr task) {
  const int home = state.options.chains && task->output != nullptr ? state.chains.home(task->output) : no_worker;
  auto* worker = home == no_worker ? nullptr : find_worker(state, home);
  if (worker != nullptr && worker->present && can_execute(*worker, *task)) worker->bound.add(std::move(task));
  else share(state, std::move(task));
}

void place_again(State& state, TaskPtr task) {
  find_executors(state, *task);
  state.declined_for |= task->kinds;
  place(state, std::move(task));
}

void share(State& state, TaskPtr task) {
  auto& queue = state.shared[{task->kinds, task->workers}];
  queue.add(std::move(task));
  state.shared_tasks++;
}

}  // namespace tessera::scheduler
