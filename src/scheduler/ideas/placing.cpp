// SPDX-License-Identifier: BSD-3-Clause
#include "placing.hpp"

#include <algorithm>

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
