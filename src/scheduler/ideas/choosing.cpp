// SPDX-License-Identifier: BSD-3-Clause
#include "choosing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "accounting.hpp"
#include "declining.hpp"
#include "fetching.hpp"
#include "memory_limits.hpp"
#include "stealing.hpp"

namespace tessera::scheduler {

namespace {

struct Candidate {
  ReadyQueue* queue;
  ReadyQueue::Tasks::const_iterator position;
  double cost;  ///< see `cost_of`
};

bool compares(const State& state) { return state.options.locality != Locality::Off && state.cache.distributed(); }

/// Whether the order of submission matters more than the bytes to fetch, if all tiles fit. It does if other tasks wait
/// for the result of this task, because only the program knows which of them are urgent. A program that suggests homes
/// submits in an order that suits these homes.
bool keeps_order(const State& state, const Task& task) {
  return has_readers(state, task) && state.backend.suggested_home(task.output) == no_worker;
}

/// The cost by which a worker compares tasks, lower being better: the time to fetch the tiles that a task reads [s], or
/// the negative number of hits.
double cost_of(const State& state, const Worker& worker, const Task& task) {
  if (!compares(state)) return 0;
  if (state.options.locality == Locality::Hits) return -hits(state, worker, task);
  if (task.tiles.empty()) return 0;
  const bool fit = all_fit(state, worker, task);
  return fit && keeps_order(state, task) ? 0 : seconds_to_fetch(state, worker, task, fit);
}

/// Compares the tasks at the front of a queue with the best candidate so far.
/// @param skip_left  whether to skip tasks that should be left to faster workers
void compare_front(const State& state, const Worker& worker, ReadyQueue& queue, bool skip_left,
                   std::optional<Candidate>& best) {
  int left = compares(state) || skip_left ? state.options.window : 1;
  for (auto position = queue.tasks().begin(); position != queue.tasks().end() && left-- > 0; ++position) {
    const auto& task = **position;
    if (!has_room_for_result(state, worker, task) || (skip_left && leave_to_faster(state, worker, task))) continue;
    const double cost = cost_of(state, worker, task);
    if (!best || cost < best->cost || (cost == best->cost && RunsBefore{}(task, **best->position)))
      best = Candidate{&queue, position, cost};
    if (cost == 0 && state.options.locality != Locality::Hits) return;  // no later task can be better
  }
}

/// Compares the tasks at the end of a queue, which faster workers would reach last. Stops at the first task that should
/// be left to them.
void compare_end(const State& state, const Worker& worker, ReadyQueue& queue, std::optional<Candidate>& best) {
  int left = state.options.window;
  for (auto next = queue.tasks().end(); next != queue.tasks().begin() && left-- > 0;) {
    const auto position = --next;
    const auto& task = **position;
    if (!has_room_for_result(state, worker, task)) continue;
    if (leave_to_faster(state, worker, task)) return;
    const double cost = cost_of(state, worker, task);
    if (!best || cost < best->cost) best = Candidate{&queue, position, cost};
    if (!compares(state)) return;
  }
}

/// The number of shared tasks that a worker would run if all workers that can execute them shared them in proportion to
/// their rates. If it reserved more, others would have to steal the rest.
/// @param rate  see `rate_of_all`
double fair_share(const State& state, double rate) { return std::ceil(static_cast<double>(state.shared_tasks) / rate); }

/// Whether another worker, the suggested home of a task, has left it, and the task comes before the last one that this
/// worker has reserved. Tasks that depend on it would otherwise wait until a station is empty.
bool was_left(const State& state, const Worker& worker, const Task& task) {
  return task.output != nullptr && state.backend.suggested_home(task.output) != no_worker &&
         RunsBefore{}(task, *worker.station.slots().back().task);
}

/// Whether a worker should begin the chain of a shared task before it continues with its own chains.
bool begins_longer(const State& state, const Worker& worker, const Task& task, double rate) {
  const auto is_as_long = [&](const auto& entry) {
    return entry.task->output != nullptr && state.chains.length(entry.task->output) >= state.chains.length(task.output);
  };
  return is_last_chain(state, task, rate) && std::ranges::none_of(worker.station.slots(), is_as_long) &&
         std::ranges::none_of(worker.popped, is_as_long);
}

/// @param skip_left  whether to skip tasks that should be left to faster workers, and also look at the end of the
///                   queues
std::optional<Candidate> find_candidate(State& state, Worker& worker, bool skip_left) {
  std::optional<Candidate> best;
  const auto compare = [&](ReadyQueue& queue) {
    compare_front(state, worker, queue, skip_left, best);
    if (skip_left) compare_end(state, worker, queue, best);
  };
  const auto takes_from = [&](const ReadyQueue& queue) {
    if (queue.empty() || !can_execute(worker, queue.front())) return false;
    if (worker.station.empty() || was_left(state, worker, queue.front())) return true;
    const double rate = rate_of_all(state, worker, queue.front());
    return static_cast<double>(worker.station.size()) < fair_share(state, rate) ||
           begins_longer(state, worker, queue.front(), rate);
  };
  compare(worker.bound);
  if (!best || state.cache.distributed())
    for (auto& [key, queue] : state.shared)
      if (takes_from(queue)) compare(queue);
  return best;
}

}  // namespace

double rate_of_all(const State& state, const Worker& worker, const Task& task) {
  const auto able = [&](const Worker* other) { return can_execute(*other, task); };
  const double own = predicted_seconds(state, worker, task);
  double sum = 0;
  for (const auto& others : state.kinds) {
    const auto first = std::ranges::find_if(others, able);
    if (first == others.end()) continue;
    const double other = predicted_seconds(state, **first, task);
    const double unknown = (*first)->kind == cpu_kind ? 0 : 1;
    sum +=
        static_cast<double>(std::count_if(first, others.end(), able)) * (own > 0 && other > 0 ? own / other : unknown);
  }
  return std::max(1.0, sum);
}

bool is_last_chain(const State& state, const Task& task, double rate) {
  if (task.output == nullptr || !state.cache.distributed()) return false;
  const auto chain = static_cast<double>(state.chains.length(task.output));
  return static_cast<double>(state.unfinished.size()) <= 6 * chain * rate && is_independent(state, task) &&
         state.backend.suggested_home(task.output) == no_worker;
}

TaskPtr choose_task(State& state, Worker& worker) {
  auto best = find_candidate(state, worker, false);
  if (best && leave_to_faster(state, worker, **best->position)) {
    decline(state, worker, **best->position);
    best = find_candidate(state, worker, true);
  }
  if (!best || (!worker.station.empty() && !may_look_ahead(state, worker, **best->position))) return nullptr;
  if (best->queue != &worker.bound) state.shared_tasks--;
  return best->queue->take(best->position);
}

void fill_station(State& state, Worker& worker) {
  // A worker that computes in host memory has little to fetch, so it gains nothing from choosing early.
  const bool fetches = state.cache.distributed() && worker.node != host_node;
  const std::size_t slots = fetches ? static_cast<std::size_t>(state.options.slots) : 1;
  // A full station still accepts a task that is more urgent than its last one, which might wait a long time.
  const auto has_slot = [&] {
    if (worker.station.size() < slots) return true;
    return fetches && worker.station.size() < 2 * slots && !worker.bound.empty() &&
           RunsBefore{}(worker.bound.front(), *worker.station.slots().back().task);
  };
  while (worker.station.empty() || (has_slot() && worker.station.bytes() <= lookahead_limit(state, worker))) {
    auto task = choose_task(state, worker);
    if (!task && worker.station.empty() && state.options.steal && !worker.has_large_task()) task = steal(state, worker);
    if (!task) return;
    if (task->output != nullptr) {
      state.chains.set_home(task->output, worker.id);
      state.chains.begin(task->output, task->output_memory);
    }
    count_hits(state, worker, *task);
    const bool large = is_large(state, worker, *task);
    worker.station.reserve(std::move(task), state.cache, worker.node, large);
  }
}

}  // namespace tessera::scheduler
