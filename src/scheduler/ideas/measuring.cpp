// SPDX-License-Identifier: BSD-3-Clause
#include "measuring.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::scheduler {

namespace {

/// The time of a task on a core that reads an operand of each multiplication from memory [s]; 0: unknown.
double seconds_from_memory(const State& state, const Task& task, const std::vector<const Worker*>& gpus) {
  if (!state.cache.distributed()) return 0;
  const double bytes = flops_of(task) / 2 * sizeof(double);
  double by_link = std::numeric_limits<double>::infinity();
  for (const auto* gpu : gpus)
    by_link = std::min(by_link, state.cache.seconds(0, static_cast<std::size_t>(bytes), gpu->node));
  constexpr double fastest_core = 64e9;  // bytes/s: a cache line in each nanosecond; links to a GPU may be faster
  return std::max(by_link, bytes / fastest_core);
}

/// Whether a core runs a task whose duration no core has measured.
bool any_core_measures(const State& state) {
  return std::ranges::any_of(state.kinds[cpu_kind], [&](const Worker* core) {
    return std::ranges::any_of(core->popped, [&](const Worker::Popped& popped) {
      const auto& task = *popped.task;
      return popped.started > 0 && !popped.was_known && task.kinds != bit(cpu_kind) &&
             state.durations.first(task, core->model, core->id) <= 0;
    });
  });
}

}  // namespace

bool is_measuring(const Worker& worker, const Task& task) {
  const auto is_alike = [&](const auto& entry) { return DurationModel::are_alike(*entry.task, task); };
  return std::ranges::any_of(worker.popped, is_alike) || std::ranges::any_of(worker.station.slots(), is_alike);
}

bool is_being_measured(const State& state, const Worker& worker, const Task& task) {
  const auto& kind = state.kinds[static_cast<std::size_t>(worker.kind)];
  return std::ranges::any_of(kind, [&](const Worker* other) { return other != &worker && is_measuring(*other, task); });
}

double measuring_budget(const State& state) {
  constexpr double share = 1.0 / 20;
  if (any_core_measures(state)) return 0;
  const auto gpus = std::ranges::count_if(state.members, [](const Worker* member) { return member->kind != cpu_kind; });
  return std::max(0.0, share * state.gpu_seconds / static_cast<double>(gpus) - state.measuring_seconds);
}

double work_beside_measurement(const State& state, const Task& task, const std::vector<const Worker*>& gpus,
                               double seconds) {
  const double budget = measuring_budget(state);
  if (const double known = state.durations.at_lowest_rate(task, cpu_kind); known > 0)
    return std::max(seconds, known - budget);
  const double longest = seconds_from_memory(state, task, gpus);
  if (longest <= seconds || budget <= 0) return longest;
  // The expected delay, if all orders of magnitude between the time of a GPU and the longest time are equally likely.
  const auto delay = [&](double work) {
    return (longest - work - work * std::log(longest / work)) / std::log(longest / seconds);
  };
  double least = seconds, most = longest;  // bisection, since the delay falls as the work grows
  while (most > 1.01 * least) {
    const double middle = std::sqrt(least * most);
    (delay(middle) <= budget ? most : least) = middle;
  }
  return most;
}

void note_measurement(State& state, const Worker& worker, const Worker::Popped& ended, double seconds) {
  const bool is_core = worker.kind == cpu_kind;
  const auto measurements = state.durations.finished(*ended.task, worker.model, seconds);
  if (measurements <= 2 && (is_core || measurements == 2) && !ended.was_known) {
    state.declined_for |= bit(cpu_kind);
    if (is_core && ended.task->kinds != bit(cpu_kind)) state.measuring_seconds += seconds;
  }
  if (measurements == 2) state.declined_for |= bit(worker.kind);
  if (!is_core) state.gpu_seconds += seconds;
}

}  // namespace tessera::scheduler
