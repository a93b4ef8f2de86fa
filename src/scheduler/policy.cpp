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

// --- Workers ---------------------------------------------------------------------------------------------------------

void Policy::add_workers(const int* workers, unsigned count) {
  const Lock lock(mutex_);
  for (unsigned i = 0; i < count; i++) add(workers[i]);
  // What waits in the shared queues may be for them, too.
  SharedQueues before;
  before.swap(shared_);
  shared_tasks_ = 0;
  for (const auto& [key, queue] : before)
    for (const auto& task : queue.tasks()) place(describe(task.task));
}

void Policy::add(int id) {
  auto& worker = workers_[static_cast<std::size_t>(id)];
  if (worker == nullptr) {
    worker = std::make_unique<Worker>();
    worker->id = id;
    worker->node = starpu_worker_get_memory_node(static_cast<unsigned>(id));
    const bool alike = starpu_node_get_kind(worker->node) == STARPU_CPU_RAM;
    worker->kind = alike ? 0 : 1 + static_cast<int>(worker->node);
  } else if (worker->present) {
    return;  // it comes back: StarPU does not say when one leaves
  }
  worker->present = true;
  kinds_.resize(std::max(kinds_.size(), static_cast<std::size_t>(worker->kind) + 1));
  kinds_[static_cast<std::size_t>(worker->kind)].push_back(worker.get());
  active_workers_++;
}

void Policy::remove_workers(const int* workers, unsigned count) {
  const Lock lock(mutex_);
  for (unsigned i = 0; i < count; i++)
    if (auto* worker = workers_[static_cast<std::size_t>(workers[i])].get(); worker != nullptr) remove(*worker);
}

void Policy::remove(Worker& worker) {
  if (!worker.present) return;
  worker.present = false;
  std::erase(kinds_[static_cast<std::size_t>(worker.kind)], &worker);
  active_workers_--;
  chains_.forget(worker.id);
  if (fetching_ == worker.id) fetching_ = nobody;
  hand_back(worker);
}

/// What a worker that has left was to do is for the others; but not what its own thread is just asking the tiles of.
void Policy::hand_back(Worker& worker) {
  while (!worker.bound.empty()) place(describe(worker.bound.take(worker.bound.tasks().begin()).task));
  for (std::size_t i = worker.station.size(); i-- > 0;)
    if (!worker.station.slots()[i].issuing) {
      const auto slot = worker.station.remove(i);
      slot.task.task->prefetched = 0;  // for a memory where it will not run
      place(describe(slot.task.task));
    }
}

/// StarPU tells when a worker joins a context, but not when it leaves it.
void Policy::remove_those_that_left() {
  for (const auto& worker : workers_)
    if (worker != nullptr && worker->present && starpu_sched_ctx_contains_worker(worker->id, context_) == 0)
      remove(*worker);
}

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
  const int home = options_.chains && task.output != nullptr ? chains_.home(task.output) : Chains::nobody;
  auto* worker = home == Chains::nobody ? nullptr : workers_[static_cast<std::size_t>(home)].get();
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
  const auto sleeps = [&](const std::unique_ptr<Worker>& worker) {
    return worker != nullptr && worker->asleep && can_execute(*worker, task);
  };
  const int home = task.output != nullptr ? chains_.home(task.output) : Chains::nobody;
  auto sleeper = workers_.end();
  if (home != Chains::nobody && sleeps(workers_[static_cast<std::size_t>(home)])) sleeper = workers_.begin() + home;
  else sleeper = std::ranges::find_if(workers_, sleeps);
  if (sleeper == workers_.end()) return {};
  (*sleeper)->asleep = false;
  return {(*sleeper)->id};
}

std::vector<int> Policy::wake_all(bool only_waiting, int caller) {
  std::vector<int> sleepers;
  for (const auto& worker : workers_)
    if (worker != nullptr && worker->id != caller && (!only_waiting || worker->waits) && worker->asleep.exchange(false))
      sleepers.push_back(worker->id);
  return sleepers;
}

// --- A worker asks for a task ----------------------------------------------------------------------------------------

/// What the drivers know only after the policy has been started.
void Policy::look_at(Worker& worker) {
  if (!cache_) cache_.emplace(options_.peers);
  const auto memory = starpu_memory_get_total(worker.node);  // -1: not known
  const auto percent = [memory](int share) {
    return memory < 0 ? std::numeric_limits<std::size_t>::max()
                      : static_cast<std::size_t>(memory) / 100 * static_cast<std::size_t>(share);
  };
  worker.lookahead = percent(options_.lookahead);
  worker.results = percent(options_.results);
  worker.memory = percent(100);
  worker.seen = true;
}

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
    if (!worker.seen) look_at(worker);
    refill(worker);
    if (options_.prefetch && cache_->distributed() && !worker.station.empty() && !worker.narrow)
      prefetches = worker.station.to_prefetch(*cache_, worker.node, options_.wait);
    if (!worker.narrow || fetching_ == nobody) slot = worker.station.next(*cache_, worker.node, is_idle(worker));
    worker.asleep = !slot;
    worker.waits = !slot && worker.given.empty() && !worker.station.empty();
    if (slot) {
      worker.given.push_back({slot->task.task, slot->task.output, slot->task.order, false});
      statistics_.tasks++;
      waiting_--;
      std::erase(prefetches.tasks, slot->task.task);  // it will be fetched at once
      if (worker.narrow) fetching_ = id;
    }
    if (!worker.runs()) count_idle(worker);
    sleepers = wake_all(!std::exchange(declined_, false), id);
    if (slot) statistics_.in_pop += now() - begin;
  }
  // Outside of the lock: what is asked for belongs to slots that nobody else may take meanwhile.
  for (auto* task : prefetches.tasks) starpu_prefetch_task_input_for(task, static_cast<unsigned>(id));
  for (const auto tile : prefetches.tiles)
    starpu_data_prefetch_on_node_prio(tile, starpu_worker_get_memory_node(static_cast<unsigned>(id)), 1, 0);
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
  while (worker.station.empty() || (worker.station.size() < slots && worker.station.bytes() < worker.lookahead)) {
    auto task = best_for(worker);
    if (!task && worker.station.empty() && options_.steal && !worker.narrow) task = steal(worker);
    if (!task) {
      if (worker.station.empty() && waiting_ > 0) remove_those_that_left();
      return;
    }
    if (task->output != nullptr) {
      chains_.set_home(task->output, worker.id);
      chains_.open(task->output);
    }
    count_hits(worker, task->task);
    const auto bytes = worker.station.reserve(*task);
    worker.narrow = worker.narrow || (cache_->distributed() && bytes > worker.memory / 2);
  }
}

double Policy::seconds(const Worker& worker, const ReadyTask& task) const {
  return pace_.seconds(task.task, worker.kind, worker.id, context_);
}

// --- A task runs -----------------------------------------------------------------------------------------------------

/// Whether nothing will release tiles or tasks for a worker unless it starts another task. Of some tasks, its own
/// internal ones, StarPU does not tell when they end: one that seems to run very long may be such.
bool Policy::is_idle(const Worker& worker) {
  constexpr double very_long = 0.1;
  if (worker.given.empty()) return true;
  return std::ranges::all_of(worker.given, &Worker::Given::started) && now() - worker.started > very_long;
}

void Policy::forget(const Worker::Given& given) {
  if (const auto order = order_.find(given.task); order != order_.end() && order->second == given.order)
    order_.erase(order);
  if (given.output != nullptr) chains_.finished(given.output);
}

void Policy::starts(const starpu_task* task, int id) {
  std::vector<int> sleepers;
  {
    const Lock lock(mutex_);
    if (fetching_ == id) fetching_ = nobody;
    auto* worker = workers_[static_cast<std::size_t>(id)].get();
    if (worker == nullptr) return;
    const auto given = std::ranges::find(worker->given, task, &Worker::Given::task);
    if (given == worker->given.end()) {
      order_.erase(task);  // not from us
      return;
    }
    if (!worker->runs()) count_idle(*worker);
    // A worker runs one task at a time: what started before has ended, and StarPU has not said so.
    for (const auto& other : worker->given)
      if (other.started) forget(other);
    given->started = true;
    std::erase_if(worker->given, [&](const Worker::Given& other) { return other.started && other.task != task; });
    worker->idle_since = 0;
    worker->started = now();
    sleepers = wake_all(true, id);  // its tiles are there: who waits for one of them can have it
  }
  for (const int sleeper : sleepers) starpu_wake_worker_relax_light(sleeper);
}

void Policy::ends(starpu_task* task, int id) {
  const auto output = output_of(task);
  bool complete = false;
  {
    const Lock lock(mutex_);
    order_.erase(task);
    if (output != nullptr) complete = chains_.finished(output);
    auto* worker = workers_[static_cast<std::size_t>(id)].get();
    if (worker == nullptr) return;
    const auto given = std::ranges::find(worker->given, task, &Worker::Given::task);
    if (given != worker->given.end()) {
      worker->given.erase(given);
      const double end = now();
      pace_.finished(task, worker->kind, end - worker->started);
      worker->idle_since = end, worker->idle_for_data = worker->has_work();
    }
  }
  if (complete && options_.write_back && starpu_worker_get_memory_node(static_cast<unsigned>(id)) != STARPU_MAIN_RAM &&
      TileCache::has_place(output, STARPU_MAIN_RAM))
    starpu_data_idle_prefetch_on_node(output, STARPU_MAIN_RAM, 1);
}

}  // namespace tessera::scheduler
