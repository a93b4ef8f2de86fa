// SPDX-License-Identifier: BSD-3-Clause
#include "declining.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "ending.hpp"
#include "measuring.hpp"
#include "placing.hpp"

namespace tessera::scheduler {

namespace {

/// The workers that execute a given task much faster than another worker.
struct Faster {
  Kinds kinds = 0;
  std::vector<const Worker*> workers;
  double rate = 0;                                           ///< total rate of these workers for such tasks [1/s]
  double seconds = std::numeric_limits<double>::infinity();  ///< time that the fastest one needs for the task
};

/// @param own  time that the worker needs for the task [s]; 0: unknown. Every GPU then counts as much faster than a
///             core, and every GPU whose time is known as much faster than a GPU of another model
Faster faster_workers(const State& state, const Worker& worker, double own, const Task& task) {
  constexpr double much_faster = 1.0 / 3;  // smaller differences may be noise from copies and waiting
  Faster faster;
  const auto able = [&](const Worker* other) { return can_execute(*other, task); };
  for (std::size_t kind = 0; kind < state.kinds.size(); kind++) {
    const auto first = std::ranges::find_if(state.kinds[kind], able);
    if (first == state.kinds[kind].end()) continue;
    const double other = predicted_seconds(state, **first, task);
    const bool is_gpu = (*first)->kind != cpu_kind, is_core = worker.kind == cpu_kind;
    const bool may_be_faster = is_gpu && (is_core || (other > 0 && (*first)->model != worker.model));
    const bool is_faster = own > 0 ? other > 0 && other <= much_faster * own : may_be_faster;
    if (!is_faster) continue;
    const auto before = faster.workers.size();
    std::copy_if(first, state.kinds[kind].end(), std::back_inserter(faster.workers), able);
    faster.kinds |= bit(static_cast<int>(kind));
    faster.rate += static_cast<double>(faster.workers.size() - before) / other;
    faster.seconds = std::min(faster.seconds, other);
  }
  return faster;
}

/// Work as a number of tasks of a given size. A larger task also counts as one, because GPUs run it at a higher rate.
/// @param flops  of a task that counts as one; 0: each does
double tasks_in(const Work& work, double flops) {
  const auto tasks = static_cast<double>(work.tasks);
  return flops > 0 ? std::min(tasks, work.flops / flops) : tasks;
}

/// The number of tasks that faster workers will run before a task, at most `most`. Before an independent task, they
/// may run all others, because no other task waits for it.
/// @param whole_chains  whether a ready task counts with all tasks of its chain, rather than alone
/// @param flops         see `tasks_in`
double count_before(const State& state, const Faster& faster, const Task& task, double most, bool whole_chains,
                    double flops) {
  const auto tasks_of = [&](const Task& ready) {
    const auto work = whole_chains && ready.output != nullptr ? state.chains.work(ready.output) : Work{1, ready.flops};
    return tasks_in(work, flops);
  };
  double count = 0;
  for (const auto* worker : faster.workers)
    for (const auto& popped : worker->popped) count += tasks_of(*popped.task);
  const bool any_order = whole_chains && is_independent(state, task);
  const auto add = [&](const auto& tasks, auto task_in) {
    for (const auto& entry : tasks) {
      if (count >= most || (!any_order && !RunsBefore{}(task_in(entry), task))) return;
      if (task_in(entry).id != task.id) count += tasks_of(task_in(entry));
    }
  };
  const auto queued = [](const TaskPtr& entry) -> const Task& { return *entry; };
  for (const auto* worker : faster.workers) {
    add(worker->station.slots(), [](const ReservationStation::Slot& slot) -> const Task& { return *slot.task; });
    add(worker->bound.tasks(), queued);
  }
  for (const auto& [key, queue] : state.shared) {
    const auto takes = [&queue = queue](const Worker* worker) { return can_execute(*worker, queue.front()); };
    if (!queue.empty() && std::ranges::any_of(faster.workers, takes)) add(queue.tasks(), queued);
  }
  return std::min(count, most);
}

/// The unfinished tasks in the chains of slower workers, which faster workers cannot run before these workers end their
/// current tasks.
struct SlowerChains {
  struct Rest {
    double seconds = 0;      ///< until the worker ends its task
    double tasks = 0;        ///< that remain in its chains then, at most those that run before this worker would end
    double independent = 0;  ///< the same, only in the chain of this task, if it is independent
  };
  std::vector<Rest> rests;  ///< in the order of time
  double tasks = 0;
};

/// @param flops  see `tasks_in`
SlowerChains chains_of_slower(const State& state, const Faster& faster, const Worker& worker, double own,
                              const Task& task, double flops) {
  const bool has_chain = task.output == nullptr || state.chains.home(task.output) == worker.id;
  SlowerChains slower{.rests = {}, .tasks = has_chain ? 0 : tasks_in(state.chains.work(task.output), flops)};
  for (const auto* other : state.members) {
    if ((faster.kinds & bit(other->kind)) != 0) continue;
    const double unfinished = tasks_in(state.chains.work(other->id), flops);
    slower.tasks += unfinished;
    if (!other->runs()) continue;
    const double running = std::clamp(state.now - other->started, 0.0, own), in_time = running / faster.seconds;
    SlowerChains::Rest rest{own - running, std::min(std::max(unfinished - 1, 0.0), in_time), 0};
    for (const auto& popped : other->popped)
      if (is_independent(state, *popped.task))
        rest.independent += std::clamp(tasks_in(state.chains.work(popped.task->output), flops) - 1, 0.0, in_time);
    slower.rests.push_back(rest);
  }
  std::ranges::sort(slower.rests, {}, &SlowerChains::Rest::seconds);
  return slower;
}

/// Whether faster workers run out of tasks before a time.
/// @param tasks   that they can run now
/// @param member  which tasks of the slower workers' chains they can run later
bool run_out(const Faster& faster, const SlowerChains& slower, double tasks, double SlowerChains::Rest::*member,
             double seconds) {
  for (const auto& rest : slower.rests) {
    if (rest.seconds >= seconds) break;
    if (tasks < (rest.seconds - faster.seconds) * faster.rate) return true;
    tasks += rest.*member;
  }
  return tasks < (seconds - faster.seconds) * faster.rate;
}

/// The factor by which a core must assume to take longer than predicted. If it ends late, all faster workers wait, but
/// if it ends in time, it saves them one task only. If durations vary between nothing and twice the prediction, what
/// all cores save and what they delay is equal at 2 (1 - sqrt(share)).
/// @param share  their rate, divided by that of the faster workers
double caution(double share) { return std::max(1.0, 2 * (1 - std::sqrt(share))); }

std::size_t writers_between(const State& state, const Task& task, unsigned long from, unsigned long to) {
  const auto* const result = task.output != nullptr ? state.results.tiles.find(task.output) : nullptr;
  return result != nullptr ? result->pending.count(from, to) : 0;
}

/// Whether faster workers will be busy with other tasks until they need the result of a task, if they run tasks in the
/// order of submission, and the worker takes the task. The first task of another chain that uses the result needs it;
/// the tasks before, less those in the chains of slower workers, do not. The rest of the task's chain also runs before.
/// @param own  time that the worker needs [s]
bool is_needed_late(const State& state, const Faster& faster, const Worker& worker, double own, const Task& task) {
  const auto user = needed_first(state, task);
  if (!state.is_in_order || user == 0) return false;
  const auto gpus = static_cast<double>(faster.workers.size());
  const double each = std::min(1 / faster.rate, state.results.task_seconds / gpus);  // seconds per task
  const auto chain = static_cast<double>(writers_between(state, task, task.order, user));
  const auto ended = state.submitted - state.unfinished.size();  // at most these precede the user
  double before = static_cast<double>(user - 1) - static_cast<double>(ended) - chain;
  const auto is_late = [&] { return own <= before * each + (chain - 1) * (each - faster.seconds); };
  if (!is_late()) return false;
  for (const auto* other : state.members) {
    if (other == &worker || (faster.kinds & bit(other->kind)) != 0) continue;
    const auto subtract = [&](const auto& entry) {
      before -= static_cast<double>(writers_between(state, *entry.task, entry.task->order, user));
    };
    std::ranges::for_each(other->popped, subtract);
    std::ranges::for_each(other->station.slots(), subtract);
  }
  return is_late();
}

}  // namespace

bool leave_to_faster(const State& state, const Worker& worker, const Task& task) {
  if (!state.options.decline || state.kinds.size() < 2) return false;
  // A program that suggests a core as the home of a tile has already accounted for the slowness of cores.
  const bool is_suggested_home = task.output != nullptr && state.backend.suggested_home(task.output) == worker.id;
  if (worker.node == host_node && is_suggested_home) return false;
  double own = predicted_seconds(state, worker, task);
  const auto faster = faster_workers(state, worker, own, task);
  if (faster.workers.empty()) return false;
  const bool is_core = worker.kind == cpu_kind;
  if (own <= 0 && !is_core) return is_measuring(worker, task) && !is_suggested_home;
  bool is_cautious = false;  // whether `own` is already longer than expected
  if (own <= 0) {
    const auto each_has_one = static_cast<double>(faster.workers.size());
    if (!state.durations.is_measurable(task))
      return count_before(state, faster, task, each_has_one, false, 0) < each_has_one;
    if (!std::isfinite(faster.rate)) return true;  // GPUs measure first
    const bool is_measured = is_being_measured(state, worker, task);
    own = state.durations.first(task, worker.model, worker.id);
    if (own <= 0) {
      if (is_measured) return true;
      own = work_beside_measurement(state, task, faster.workers, faster.seconds);
      if (own <= 0) return count_before(state, faster, task, each_has_one, false, 0) < each_has_one;
      is_cautious = true;
    } else if (!is_measured) own -= measuring_budget(state);
  }
  constexpr double worth_leaving = 0.5e-3;  // s; waiting for memory may make a short task look this much longer
  if (own - faster.seconds < worth_leaving) return false;
  // If faster workers have fewer tasks than this, they will run out of work before this worker finishes the task.
  const auto cores = static_cast<double>(state.kinds[cpu_kind].size());
  // The durations of GPUs vary little.
  const double factor = is_core && !is_cautious ? caution(cores / own / faster.rate) : 1;
  const double end = (is_core ? 0 : seconds_until_free(state, worker)) + factor * own,
               enough = (end - faster.seconds) * faster.rate;
  const bool readers = feeds_other_chains(state, task);
  // In a product, tasks differ in size only. If others wait for results, there are several operations, whose rates
  // differ. A program that suggests homes has divided the work itself.
  const bool has_home = task.output != nullptr && state.backend.suggested_home(task.output) != no_worker;
  const double flops = readers || has_home || state.silent > 0 ? 0 : task.flops;
  const auto slower = chains_of_slower(state, faster, worker, own, task, flops);
  const double unfinished = tasks_in({state.unfinished.size(), state.unfinished_flops}, flops);
  if (run_out(faster, slower, unfinished - slower.tasks, &SlowerChains::Rest::tasks, end)) return true;
  // The number of tasks that depend on readers of the result is unknown, so enough tasks must be ready, or come before
  // the readers. Without readers, chains supply the next tasks.
  const double most = readers ? 1024 : 64;  // idle workers ask often, so counting must stay cheap
  const double counted = std::ceil(std::min(enough, most));
  const bool whole_chains = is_core && !readers;
  const auto before = count_before(state, faster, task, counted, whole_chains, flops);
  if (is_core && readers && before < counted) return !is_needed_late(state, faster, worker, factor * own, task);
  if (!whole_chains) return before < counted;
  return before < counted && run_out(faster, slower, before, &SlowerChains::Rest::independent, factor * own);
}

void decline(State& state, Worker& worker, const Task& task) {
  const auto wake = [&](const Task& left) {
    state.declined_for |= faster_workers(state, worker, predicted_seconds(state, worker, left), left).kinds;
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
