// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <starpu_scheduler.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tessera::scheduler {

namespace {

double now() { return 1e-6 * starpu_timing_now(); }

constexpr Kinds bit(int kind) { return Kinds{1} << kind; }

}  // namespace

Policy::Policy(unsigned context, Options options)
    : context_(context), options_(options), workers_(STARPU_NMAXWORKERS) {}

// --- Workers ---------------------------------------------------------------------------------------------------------

void Policy::add_workers(const int* workers, unsigned count) {
  const Lock lock(mutex_);
  for (unsigned i = 0; i < count; i++) {
    auto& worker = workers_[static_cast<std::size_t>(workers[i])];
    worker = std::make_unique<Worker>();
    worker->id = workers[i];
    worker->node = starpu_worker_get_memory_node(static_cast<unsigned>(workers[i]));
    const bool alike = starpu_node_get_kind(worker->node) == STARPU_CPU_RAM;
    worker->kind = alike ? 0 : 1 + static_cast<int>(worker->node);
    kinds_.resize(std::max(kinds_.size(), static_cast<std::size_t>(worker->kind) + 1));
    kinds_[static_cast<std::size_t>(worker->kind)].push_back(worker.get());
    active_workers_++;
  }
  // What waits in the shared queues may be for them, too.
  SharedQueues before;
  before.swap(shared_);
  shared_tasks_ = 0;
  for (const auto& [key, queue] : before)
    for (const auto& task : queue.tasks()) place(describe(task.task));
}

void Policy::remove_workers(const int* workers, unsigned count) {
  const Lock lock(mutex_);
  for (unsigned i = 0; i < count; i++) {
    const auto gone = std::move(workers_[static_cast<std::size_t>(workers[i])]);
    if (gone == nullptr) continue;
    std::erase(kinds_[static_cast<std::size_t>(gone->kind)], gone.get());
    active_workers_--;
    chains_.forget(gone->id);
    for (const auto& task : gone->bound.tasks()) place(describe(task.task));
    for (const auto& slot : gone->station.slots()) {
      slot.task.task->prefetched = 0;  // for a memory where it will not run
      place(describe(slot.task.task));
    }
  }
}

bool Policy::can_execute(const Worker& worker, const ReadyTask& task) const {
  if ((task.kinds & bit(worker.kind)) == 0) return false;
  return !task.restricted ||
         starpu_worker_can_execute_task_first_impl(static_cast<unsigned>(worker.id), task.task, nullptr) != 0;
}

// --- Tasks come in ---------------------------------------------------------------------------------------------------

ReadyTask Policy::describe(starpu_task* task) const {
  const auto order = order_.find(task);
  ReadyTask ready{task, output_of(task), order != order_.end() ? order->second : 0, 0,
                  task->workerids_len > 0 || task->cl->can_execute != nullptr};
  for (std::size_t kind = 0; kind < kinds_.size(); kind++)
    for (const auto* worker : kinds_[kind]) {
      if (starpu_worker_can_execute_task_first_impl(static_cast<unsigned>(worker->id), task, nullptr) != 0) {
        ready.kinds |= bit(static_cast<int>(kind));
        break;
      }
      if (!ready.restricted) break;  // the others cannot either
    }
  return ready;
}

void Policy::place(const ReadyTask& task) {
  const int home = options_.chains && task.output != nullptr ? chains_.home(task.output) : Chains::nobody;
  auto* worker = home == Chains::nobody ? nullptr : workers_[static_cast<std::size_t>(home)].get();
  if (worker != nullptr && can_execute(*worker, task)) return worker->bound.add(task);
  shared_[{task.kinds, task.restricted}].add(task);
  shared_tasks_++;
}

void Policy::submitted(starpu_task* task) {
  if (task->cl == nullptr || task->cl->where == STARPU_NOWHERE) return;  // nobody will execute it
  const auto output = output_of(task);
  const Lock lock(mutex_);
  order_[task] = ++submitted_;
  if (output != nullptr) chains_.submitted(output);
}

void Policy::push(starpu_task* task) {
  std::vector<int> sleepers;
  {
    const Lock lock(mutex_);
    const auto ready = describe(task);
    place(ready);
    waiting_++;
    starpu_push_task_end(task);
    sleepers = wake(ready);
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

std::vector<int> Policy::wake_all() {
  std::vector<int> sleepers;
  for (const auto& worker : workers_)
    if (worker != nullptr && worker->asleep.exchange(false)) sleepers.push_back(worker->id);
  return sleepers;
}

// --- A worker asks for a task ----------------------------------------------------------------------------------------

void Policy::learn_links() {
  if (!cache_) cache_.emplace(options_.peers);
}

starpu_task* Policy::pop(int id) {
  std::optional<ReservationStation::Slot> slot;
  ReservationStation::Prefetches prefetches;
  std::vector<int> sleepers;
  const auto& known = workers_[static_cast<std::size_t>(id)];
  if (known == nullptr || (waiting_ == 0 && known->asleep)) return nullptr;
  auto& worker = *known;
  {
    const Lock lock(mutex_);
    learn_links();
    worker.station.issued();
    refill(worker);
    if (options_.prefetch && cache_->distributed() && !worker.station.empty()) {
      const auto memory = starpu_memory_get_total(worker.node);  // -1: not known
      const auto budget = memory < 0 ? std::numeric_limits<std::size_t>::max()
                                     : static_cast<std::size_t>(memory) / 100 * static_cast<std::size_t>(options_.lookahead);
      prefetches = worker.station.to_prefetch(*cache_, worker.node, budget, options_.wait);
    }
    slot = worker.station.next(worker.node, worker.in_flight == 0);
    worker.asleep = !slot;
    if (slot) {
      if (worker.in_flight == 0 && !TileCache::at_hand(slot->task.task, worker.node)) worker.idle_for_data = true;
      worker.in_flight++;
      waiting_--;
      std::erase(prefetches.tasks, slot->task.task);  // it will be fetched at once
      if (slot->issuing) slot->task.task->prefetched = 0;
    } else if (worker.in_flight == 0) {
      idle(worker);
    }
    if (std::exchange(declined_, false)) sleepers = wake_all();
  }
  // Outside of the lock: what is asked for belongs to slots that nobody else may take meanwhile.
  for (auto* task : prefetches.tasks) starpu_prefetch_task_input_for(task, static_cast<unsigned>(id));
  for (const auto tile : prefetches.tiles)
    starpu_data_prefetch_on_node_prio(tile, starpu_worker_get_memory_node(static_cast<unsigned>(id)), 1, 0);
  for (const int sleeper : sleepers)
    if (sleeper != id) starpu_wake_worker_relax_light(sleeper);
  return slot ? slot->task.task : nullptr;
}

void Policy::refill(Worker& worker) {
  while (worker.station.size() < static_cast<std::size_t>(options_.slots)) {
    auto task = best_for(worker);
    if (!task && worker.station.empty() && options_.steal) task = steal(worker);
    if (!task) return;
    if (task->output != nullptr) chains_.set_home(task->output, worker.id);
    count_hits(worker, task->task);
    worker.station.reserve(*task);
  }
}

/// Compares the tasks at the front of a queue with the best one so far.
void Policy::compare(const Worker& worker, ReadyQueue& queue, std::optional<Found>& best) const {
  const bool by_score = options_.locality && cache_->distributed();
  int left = by_score ? options_.window : 1;
  for (auto task = queue.tasks().begin(); task != queue.tasks().end() && left > 0; ++task) {
    if (!can_execute(worker, *task)) continue;
    left--;
    const auto score = by_score ? cache_->score(task->task, worker.node) : 0;
    if (!best || score > best->score || (score == best->score && RunsBefore{}(*task, *best->position)))
      best = Found{&queue, task, score};
    if (by_score && score == TileCache::best_score(task->task)) return;  // no later one is better
  }
}

std::optional<ReadyTask> Policy::best_for(Worker& worker) {
  std::optional<Found> best;
  compare(worker, worker.bound, best);
  // No more of the shared tasks than its share: what is reserved here, others must steal.
  const auto share = (shared_tasks_ + active_workers_ - 1) / active_workers_;
  const bool shares = worker.station.size() < std::max<std::size_t>(1, share);
  if (shares && (!best || cache_->distributed()))
    for (auto& [key, queue] : shared_)
      if ((key.first & bit(worker.kind)) != 0) compare(worker, queue, best);
  if (!best) return std::nullopt;
  const bool bound = best->queue == &worker.bound;
  if (leave_to_faster(worker, *best->position)) {
    if (!bound) return std::nullopt;
    auto task = best->queue->take(best->position);
    chains_.set_home(task.output, Chains::nobody);
    shared_[{task.kinds, task.restricted}].add(task);
    shared_tasks_++;
    declined_ = true;
    return std::nullopt;
  }
  if (!bound) shared_tasks_--;
  return best->queue->take(best->position);
}

double Policy::seconds(const Worker& worker, const ReadyTask& task) const {
  return pace_.seconds(task.task, worker.kind, worker.id, context_);
}

/// Whether faster workers will have done all there is to do before this one is done with the task.
bool Policy::leave_to_faster(const Worker& worker, const ReadyTask& task) const {
  if (!options_.horizon || kinds_.size() < 2) return false;
  const double own = seconds(worker, task);
  if (own <= 0) return false;  // it will be known after the first one
  constexpr double clearly = 0.8;
  double rate = 0, fastest = own;
  for (std::size_t kind = 0; kind < kinds_.size(); kind++) {
    if ((task.kinds & bit(static_cast<int>(kind))) == 0 || kinds_[kind].empty()) continue;
    const double other = seconds(*kinds_[kind].front(), task);
    if (other <= 0 || other > clearly * own) continue;
    rate += static_cast<double>(kinds_[kind].size()) / other;
    fastest = std::min(fastest, other);
  }
  return rate > 0 && own > static_cast<double>(order_.size()) / rate + fastest;
}

/// From the worker that will be busy longest with what it has, the task that costs least to move; nothing, if the other
/// one would have started it before it is done here.
std::optional<ReadyTask> Policy::steal(Worker& thief) {
  Worker* victim = nullptr;
  double longest = 0;
  for (const auto& other : workers_) {
    if (other == nullptr || other.get() == &thief || other->backlog() == 0) continue;
    const auto& first = other->bound.empty() ? other->station.slots().front().task : *other->bound.tasks().begin();
    const double one = seconds(*other, first);
    const double wait = static_cast<double>(other->backlog()) * (one > 0 ? one : 1e-9);
    if (wait > longest) victim = other.get(), longest = wait;
  }
  if (victim == nullptr) return std::nullopt;

  const bool distributed = cache_->distributed();
  double cheapest = std::numeric_limits<double>::infinity();
  const ReadyTask* best = nullptr;
  std::size_t slot = 0;
  const auto consider = [&](const ReadyTask& task) {
    if (!can_execute(thief, task)) return false;
    const double cost = distributed ? cache_->seconds_to_move(task.task, thief.node) : 0;
    if (cost >= cheapest) return false;
    best = &task, cheapest = cost;
    return true;
  };
  int left = options_.window;
  for (auto task = victim->bound.tasks().rbegin(); task != victim->bound.tasks().rend() && left-- > 0; ++task)
    consider(*task);
  const bool bound = best != nullptr;
  if (!bound)
    for (std::size_t i = victim->station.size(); i-- > 0;)
      if (!victim->station.slots()[i].issuing && consider(victim->station.slots()[i].task)) slot = i;
  if (best == nullptr || leave_to_faster(thief, *best)) return std::nullopt;

  // Not where both would be done at about the same time anyway: the thief may only wait for what others compute.
  const double there = seconds(*victim, *best), here = seconds(thief, *best);
  const auto own = static_cast<double>(chains_.unfinished(thief.id)) + 1,
             others = static_cast<double>(std::max(chains_.unfinished(victim->id), victim->backlog()));
  if (distributed && others * (there > 0 ? there : 1) <= cheapest + own * (here > 0 ? here : 1)) return std::nullopt;
  statistics_.steals++;
  if (bound) return victim->bound.take(victim->bound.tasks().find(*best));
  const auto taken = victim->station.remove(slot);
  taken.task.task->prefetched = 0;  // for a memory where it will not run
  return taken.task;
}

// --- A task runs -----------------------------------------------------------------------------------------------------

void Policy::starts(starpu_task*, int id) {
  const Lock lock(mutex_);
  auto* worker = workers_[static_cast<std::size_t>(id)].get();
  if (worker == nullptr) return;
  busy(*worker);
  worker->started = now();
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
    // A GPU starts the next task while the last one still runs.
    const double end = now(), begin = std::max(worker->started, worker->finished);
    worker->finished = end;
    pace_.finished(task, worker->kind, end - begin);
    if (!task->execute_on_a_specific_worker) worker->in_flight--;
  }
  if (complete && options_.write_back && starpu_worker_get_memory_node(static_cast<unsigned>(id)) != STARPU_MAIN_RAM &&
      TileCache::has_place(output, STARPU_MAIN_RAM))
    starpu_data_idle_prefetch_on_node(output, STARPU_MAIN_RAM, 1);
}

// --- Statistics ------------------------------------------------------------------------------------------------------

void Policy::count_hits(const Worker& worker, starpu_task* task) {
  statistics_.tasks++;
  if (!cache_->distributed()) return;
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    if ((mode & STARPU_R) == 0) return;
    switch (cache_->level(tile, worker.node)) {
    case TileCache::Level::Own: statistics_.own_tiles++; break;
    case TileCache::Level::Peer: statistics_.peer_tiles++; break;
    case TileCache::Level::Far: statistics_.far_tiles++; break;
    }
  });
}

void Policy::idle(Worker& worker) {
  if (worker.idle_since == 0) worker.idle_since = now();
  worker.idle_for_data = !worker.station.empty();
}

void Policy::busy(Worker& worker) {
  if (worker.idle_since == 0) return;
  const double seconds = now() - worker.idle_since;
  (worker.idle_for_data ? statistics_.idle_for_data : statistics_.idle_for_tasks) += seconds;
  worker.idle_since = 0;
}

Statistics Policy::statistics() {
  const Lock lock(mutex_);
  return statistics_;
}

}  // namespace tessera::scheduler
