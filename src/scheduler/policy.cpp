// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <starpu_scheduler.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "clock.hpp"

namespace tessera::scheduler {

Policy::Policy(unsigned context, Options options)
    : context_(context), options_(options), workers_(STARPU_NMAXWORKERS) {}

bool Policy::can_execute(const Worker& worker, const ReadyTask& task) {
  if ((task.kinds & bit(worker.kind)) == 0) return false;
  return task.workers.empty() || std::ranges::binary_search(task.workers, worker.id);
}

// --- Tasks come in ---------------------------------------------------------------------------------------------------

ReadyTask Policy::describe(starpu_task* task) const {
  const auto order = order_.find(task);
  ReadyTask ready{task, output_of(task), task->priority, order != order_.end() ? order->second : 0, 0, {}};
  const bool restricted = task->workerids_len > 0 || task->cl->can_execute != nullptr;
  for (std::size_t kind = 0; kind < kinds_.size(); kind++)
    for (const auto* worker : kinds_[kind]) {
      if (starpu_worker_can_execute_task_first_impl(static_cast<unsigned>(worker->id), task, nullptr) != 0) {
        ready.kinds |= bit(static_cast<int>(kind));
        if (restricted) ready.workers.push_back(worker->id);
      }
      if (!restricted) break;  // what one of a kind can, the others can
    }
  std::ranges::sort(ready.workers);
  return ready;
}

void Policy::place(const ReadyTask& task) {
  const int home = options_.chains && task.output != nullptr ? chains_.home(task.output) : nobody;
  auto* worker = home == nobody ? nullptr : workers_[static_cast<std::size_t>(home)].get();
  if (worker != nullptr && worker->present && can_execute(*worker, task)) return worker->bound.add(task);
  share(task);
}

void Policy::share(const ReadyTask& task) {
  shared_[{task.kinds, task.workers}].add(task);
  shared_tasks_++;
}

void Policy::submitted(starpu_task* task) {
  const bool nowhere = task->cl == nullptr || task->cl->where == STARPU_NOWHERE || task->where == STARPU_NOWHERE;
  if (nowhere) return;  // nobody will execute it
  const auto output = output_of(task);
  const Lock lock(mutex_);
  order_[task] = ++submitted_;
  if (output != nullptr) chains_.submitted(output);
}

void Policy::push(starpu_task* task) {
  std::vector<int> sleepers;
  const double begin = now();
  {
    const Lock lock(mutex_);
    const auto ready = describe(task);
    place(ready);
    waiting_++;
    starpu_push_task_end(task);
    sleepers = wake(ready);
    statistics_.in_push += now() - begin;
  }
  for (const int worker : sleepers) starpu_wake_worker_relax_light(worker);
}

/// The worker that the task is bound to, or else one that might take or steal it.
std::vector<int> Policy::wake(const ReadyTask& task) {
  const int home = task.output != nullptr ? chains_.home(task.output) : nobody;
  Worker* sleeper = nullptr;
  for (auto* worker : members_)
    if (worker->asleep && can_execute(*worker, task) && (sleeper == nullptr || worker->id == home)) sleeper = worker;
  if (sleeper == nullptr) return {};
  sleeper->asleep = false;
  return {sleeper->id};
}

std::vector<int> Policy::wake_all(bool only_waiting, int caller) {
  std::vector<int> sleepers;
  for (auto* worker : members_)
    if (worker->id != caller && (!only_waiting || worker->waits) && worker->asleep.exchange(false))
      sleepers.push_back(worker->id);
  return sleepers;
}

// --- A worker asks for a task ----------------------------------------------------------------------------------------

starpu_task* Policy::pop(int id) {
  std::optional<ReservationStation::Slot> slot;
  ReservationStation::Prefetches prefetches;
  std::vector<int> sleepers;
  if (workers_[static_cast<std::size_t>(id)] == nullptr) return nullptr;
  auto& worker = *workers_[static_cast<std::size_t>(id)];
  if (waiting_ == 0 && worker.asleep) return nullptr;
  const double begin = now();
  {
    const Lock lock(mutex_);
    if (!worker.present && starpu_sched_ctx_contains_worker(id, context_) != 0) add(id);
    if (!worker.present) return nullptr;
    if (worker.memory == 0) {  // the drivers know links and memories only now
      if (!cache_) cache_.emplace(options_.peers);
      const auto memory = starpu_memory_get_total(worker.node);  // -1: not known
      worker.memory = memory < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(memory);
    }
    refill(worker);
    if (options_.prefetch && cache_->distributed() && !worker.station.empty() && !worker.narrow())
      prefetches = worker.station.to_prefetch(*cache_, abandoned_, worker.node, options_.wait);
    if (!worker.narrow() || fetching_ == nobody)
      slot = worker.station.next(worker.node, is_idle(worker),
                                 [&](starpu_data_handle_t tile) { return awaited_by_a_peer(worker, tile); });
    worker.asleep = !slot;
    worker.waits = !slot && worker.given.empty() && !worker.station.empty();
    if (slot) {
      auto awaited = cache_->distributed() ? TileCache::missing(slot->task.task, worker.node)
                                           : std::vector<starpu_data_handle_t>{};
      worker.given.push_back({slot->task.task, slot->task.output, slot->task.order, std::move(awaited), slot->wide});
      statistics_.tasks++;
      waiting_--;
      std::erase(prefetches.tasks, slot->task.task);  // it will be fetched at once
      if (worker.narrow()) fetching_ = id;
    }
    if (!worker.runs()) count_idle(worker);
    sleepers = wake_all(!std::exchange(declined_, false), id);
    if (slot) statistics_.in_pop += now() - begin;
  }
  // Outside of the lock: what is asked for belongs to slots that nobody else may take meanwhile.
  for (auto* const task : prefetches.tasks) starpu_prefetch_task_input_for(task, static_cast<unsigned>(id));
  for (const auto& tile : prefetches.tiles)
    starpu_data_prefetch_on_node_prio(tile.handle, worker.node, 1, tile.priority);
  if (!prefetches.tasks.empty() || !prefetches.tiles.empty()) {
    const Lock lock(mutex_);
    worker.station.issued();
    if (!worker.present) hand_back(worker);
  }
  for (const int sleeper : sleepers) starpu_wake_worker_relax_light(sleeper);
  return slot ? slot->task.task : nullptr;
}

void Policy::refill(Worker& worker) {
  // Where there is nothing to fetch, there is nothing to choose early either.
  const bool far = cache_->distributed() && worker.node != STARPU_MAIN_RAM;
  const std::size_t slots = far ? static_cast<std::size_t>(options_.slots) : 1;
  // A full one still takes what is more urgent than its last task, which may have been waiting for long.
  const auto has_slot = [&] {
    if (worker.station.size() < slots) return true;
    return far && worker.station.size() < 2 * slots && !worker.bound.empty() &&
           RunsBefore{}(*worker.bound.tasks().begin(), worker.station.slots().back().task);
  };
  while (worker.station.empty() || (has_slot() && worker.station.bytes() <= ahead(worker))) {
    auto task = best_for(worker);
    if (!task && worker.station.empty() && options_.steal && !worker.narrow()) task = steal(worker);
    if (!task) {
      if (worker.station.empty() && waiting_ > 0) remove_those_that_left();
      return;
    }
    if (task->output != nullptr) {
      chains_.set_home(task->output, worker.id);
      chains_.open(task->output);
    }
    count_hits(worker, task->task);
    worker.station.reserve(*task, worker.node, is_wide(worker, *task));
  }
}

/// Whether a task fills more than half of a worker's memory.
bool Policy::is_wide(const Worker& worker, const ReadyTask& task) const {
  return cache_->distributed() && bytes_of(task.task) > worker.memory / 2;
}

double Policy::seconds(const Worker& worker, starpu_task* task) const {
  return pace_.seconds(task, worker.kind, worker.id, context_);
}

}  // namespace tessera::scheduler
