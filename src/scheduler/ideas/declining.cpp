// SPDX-License-Identifier: BSD-3-Clause
#include "declining.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "placing.hpp"

namespace tessera::scheduler {

namespace {

/// The workers that execute a task much faster than another worker does.
struct Faster {
  Kinds kinds = 0;
  std::vector<const Worker*> workers;
  double rate = 0;                                           ///< tasks of this kind that all of them execute [1/s]
  double seconds = std::numeric_limits<double>::infinity();  ///< how long the fastest needs for the task
};

/// @param own  how long the worker needs for the task [s]
Faster faster_workers(const State& state, double own, const Task& task) {
  constexpr double much_faster = 1.0 / 3;  // less may be noise: copies and waiting disturb what is measured
  Faster faster;
  const auto able = [&](const Worker* other) { return can_execute(*other, task); };
  for (std::size_t kind = 0; kind < state.kinds.size(); kind++) {
    const auto first = std::ranges::find_if(state.kinds[kind], able);
    if (first == state.kinds[kind].end()) continue;
    const double other = predicted_seconds(state, **first, task);
    if (other <= 0 || other > much_faster * own) continue;
    const auto before = faster.workers.size();
    std::copy_if(first, state.kinds[kind].end(), std::back_inserter(faster.workers), able);
    faster.kinds |= bit(static_cast<int>(kind));
    faster.rate += static_cast<double>(faster.workers.size() - before) / other;
    faster.seconds = std::min(faster.seconds, other);
  }
  return faster;
}

/// The number of ready tasks that faster workers will run before a task, at most `most`.
std::size_t count_before(const State& state, const Faster& faster, const Task& task, std::size_t most) {
  std::size_t count = 0;
  const auto add = [&](const auto& tasks, auto task_in) {
    for (const auto& entry : tasks) {
      if (count >= most || !RunsBefore{}(task_in(entry), task)) return;
      count++;
    }
  };
  const auto queued = [](const TaskPtr& entry) -> const Task& { return *entry; };
  for (const auto* worker : faster.workers) {
    count += worker->popped.size();
    add(worker->station.slots(), [](const ReservationStation::Slot& slot) -> const Task& { return *slot.task; });
    add(worker->bound.tasks(), queued);
  }
  for (const auto& [key, queue] : state.shared) {
    const auto takes = [&queue = queue](const Worker* worker) { return can_execute(*worker, queue.front()); };
    if (!queue.empty() && std::ranges::any_of(faster.workers, takes)) add(queue.tasks(), queued);
  }
  return std::min(count, most);
}

}  // namespace

bool leave_to_faster(const State& state, const Worker& worker, const Task& task) {
  if (!state.options.decline || state.kinds.size() < 2) return false;
  const double own = predicted_seconds(state, worker, task);
  if (own <= 0) return false;  // not known: running the task measures it
  // A program that suggests a core as the home of a tile has reckoned with what cores need.
  if (worker.node == host_node && task.output != nullptr && state.backend.suggested_home(task.output) == worker.id)
    return false;
  const auto faster = faster_workers(state, own, task);
  constexpr double worth_leaving = 0.5e-3;  // s. Waiting for memory may make a short task look this much longer
  if (faster.workers.empty() || own - faster.seconds < worth_leaving) return false;
  // If more tasks than this come before the task, this worker finishes it first.
  const double enough = (own - faster.seconds) * faster.rate;
  if (static_cast<double>(state.order.size()) < enough) return true;
  constexpr double most = 64;  // to count more would take long, and a worker that is so slow hardly matters
  const auto counted = static_cast<std::size_t>(std::ceil(std::min(enough, most)));
  return count_before(state, faster, task, counted) < counted;
}

void decline(State& state, Worker& worker, const Task& task) {
  const auto wake = [&](const Task& left) {
    state.declined_for |= faster_workers(state, predicted_seconds(state, worker, left), left).kinds;
  };
  wake(task);
  int left = state.options.window;
  for (auto next = worker.bound.tasks().begin(); next != worker.bound.tasks().end() && left-- > 0;) {
    const auto position = next++;
    if (!leave_to_faster(state, worker, **position)) continue;
    wake(**position);
    state.chains.set_home((*position)->output, no_worker);
    share(state, worker.bound.take(position));
  }
}

}  // namespace tessera::scheduler
