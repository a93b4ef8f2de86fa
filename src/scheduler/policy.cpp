// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <starpu_scheduler.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <thread>
#include <utility>

#include "clock.hpp"
#include "ideas/accounting.hpp"
#include "ideas/choosing.hpp"
#include "ideas/fetching.hpp"
#include "ideas/membership.hpp"
#include "ideas/memory_limits.hpp"
#include "ideas/placing.hpp"
#include "ideas/running.hpp"
#include "ideas/waiting.hpp"

namespace tessera::scheduler {

namespace {

constexpr double look_interval = 0.01;  // s

/// Whether StarPU's workers ask for tasks again and again, until they get one. Those of other builds of StarPU, and in
/// simulated time, may sleep when they got none, and must be woken.
#ifdef STARPU_NON_BLOCKING_DRIVERS
constexpr bool workers_poll = true;
#else
constexpr bool workers_poll = false;
#endif

void wake([[maybe_unused]] int worker) {
  if constexpr (!workers_poll) starpu_wake_worker_relax_light(worker);
}

void wake(const std::vector<int>& workers) {
  for (const int worker : workers) wake(worker);
}

/// Keeps a worker awake that found no task, but must look again when some time has passed: nobody reports that. Where
/// workers poll, they look anyway. In simulated time, the time must pass.
/// @param seconds  until then
void stay_awake([[maybe_unused]] int worker, [[maybe_unused]] double seconds) {
  if constexpr (workers_poll) return;
#ifdef STARPU_SIMGRID
  starpu_worker_relax_on();
  starpu_sleep(static_cast<float>(std::min(seconds, Polling::with_reserved)));
  starpu_worker_relax_off();
#endif
  wake(worker);
}

/// StarPU looks for room for ever, and says nothing.
void warn_too_large(const Task& task, const Worker& worker) {
  constexpr double mib = 1024.0 * 1024.0;
  const char* name = starpu_task_get_name(task_of(task.id));
  std::fprintf(stderr,
               "tessera scheduling policy: the tiles of a task%s%s take %.1f MiB, but the memory of worker %d has %.1f "
               "MiB: the task may never start\n",
               name != nullptr ? " " : "", name != nullptr ? name : "",
               static_cast<double>(distinct_memory(task)) / mib, worker.id, static_cast<double>(worker.memory) / mib);
}

/// Lets another thread have the core of a CPU worker that has nothing to do. StarPU's workers poll without a pause,
/// which takes the cores from the threads that submit tasks. Drivers of GPUs poll for events, and keep their cores.
void yield([[maybe_unused]] int worker) {
#ifndef STARPU_SIMGRID
  if (starpu_worker_get_type(worker) != STARPU_CPU_WORKER) return;
  starpu_worker_relax_on();
  std::this_thread::yield();
  starpu_worker_relax_off();
#endif
}

}  // namespace

Policy::Policy(unsigned context, const Options& options)
    : context_(context), backend_(context), state_(options, STARPU_NMAXWORKERS, backend_) {}

// --- Tasks arrive ----------------------------------------------------------------------------------------------------

void Policy::submitted(starpu_task* task) {
  const bool executed = task->cl != nullptr && task->cl->where != STARPU_NOWHERE && task->where != STARPU_NOWHERE;
  if (!executed) return;
  const auto tiles = submitted_tiles(task);
  const Lock lock(mutex_);
  task_submitted(state_, id_of(task), tiles);
}

void Policy::push(starpu_task* task) {
  int sleeper = no_worker;
  const double begin = now();
  auto description = describe(task);
  {
    const Lock lock(mutex_);
    const auto& ready = *description;
    if (const auto* order = state_.order.find(ready.id); order != nullptr) description->order = *order;
    find_executors(state_, *description);
    place(state_, std::move(description));
    waiting_++;
    starpu_push_task_end(task);
    sleeper = wake_for(state_, ready);
    state_.counts.in_push += now() - begin;
  }
  if (sleeper != no_worker) wake(sleeper);
}

// --- A worker asks for a task ----------------------------------------------------------------------------------------

starpu_task* Policy::pop(int id) {
  auto* const found = find_worker(state_, id);
  if (found == nullptr) return nullptr;
  auto& worker = *found;
  const bool asleep = worker.asleep;
  if (asleep && waiting_ == 0) {
    yield(id);
    return nullptr;
  }
  const double time = now();
  if (workers_poll && asleep && !worker.polling.is_due(time)) {
    yield(id);
    return nullptr;
  }
  TaskId popped = nullptr;
  Prefetches prefetches;
  std::vector<int> sleepers;
  double postponed = 0;  // for how long
  {
    const Lock lock(mutex_);
    if (!worker.present && starpu_sched_ctx_contains_worker(id, context_) != 0) add(id);
    if (!worker.present) return nullptr;
    if (worker.kind == cpu_kind) nothing_runs(worker);
    if (worker.memory == 0) find_device(worker);
    fill_station(state_, worker);
    const bool large = worker.has_large_task();
    if (worker.station.empty() && waiting_ > 0) look_around(time);
    if (state_.options.prefetch && state_.cache.distributed() && !worker.station.empty() && !large)
      prefetches = fetch_ahead(state_, worker);
    const auto reserved = worker.station.size();
    auto slot = take(worker, prefetches, time);
    worker.asleep = !slot;
    set_waits(state_, worker, !slot && worker.popped.empty() && !worker.station.empty());
    if (slot) {
      popped = slot->task->id;
      task_popped(state_, worker, std::move(*slot));
      waiting_--;
    }
    if (!worker.runs()) count_idle(state_, worker, time);
    sleepers = wake_others(state_, id);
    if (popped != nullptr) {
      worker.polling.found();
      state_.counts.in_pop += now() - time;
    } else {
      worker.polling.found_none(time, !worker.station.empty());
      if (worker.station.size() < reserved) postponed = Polling::with_reserved;  // there may be another task for it
      else if (worker.waits) postponed = worker.postpones_until - time;
      else if (has_refused(state_)) postponed = look_interval;
    }
  }
  request(worker, prefetches);
  wake(sleepers);
  if (postponed > 0) stay_awake(id, postponed);
  return task_of(popped);
}

/// Takes the task that a worker starts now out of its reservation station, if there is one.
/// @param prefetches  what is about to be requested: not for this task, for which StarPU fetches the tiles at once
std::optional<ReservationStation::Slot> Policy::take(Worker& worker, Prefetches& prefetches, double time) {
  if (worker.has_large_task() && state_.large_fetcher != no_worker) return std::nullopt;
  auto slot = next_task(state_, worker, time);
  if (!slot) return std::nullopt;
  const auto task = slot->task->id;
  std::erase(prefetches.tasks, task);
  if (!backend_.choose_implementation(task, worker.id)) {  // the codelet has changed its mind
    place_again(state_, give_up(state_, std::move(*slot), worker.node));
    return std::nullopt;
  }
  if (slot->large && !fits(state_, worker, *slot->task) && !std::exchange(said_too_large_, true))
    warn_too_large(*slot->task, worker);
  return slot;
}

/// Asks StarPU what it knows only after its drivers have started: the worker's device, its memory, and the links.
void Policy::find_device(Worker& worker) {
  if (!std::exchange(links_known_, true)) {
    state_.cache.set_links(measured_links());
    if (state_.options.peers) prefer_peers(state_.cache.peers());
  }
  const auto memory = starpu_memory_get_total(worker.node);  // negative: unlimited
  worker.memory = memory < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(memory);
  set_device(state_, worker, name_of(worker.id));
}

/// Requests tiles, without the lock: they belong to slots that nobody else may take meanwhile.
void Policy::request(Worker& worker, const Prefetches& prefetches) {
  if (prefetches.tasks.empty() && prefetches.tiles.empty()) return;
  for (auto* const task : prefetches.tasks)
    starpu_prefetch_task_input_for(task_of(task), static_cast<unsigned>(worker.id));
  for (const auto& [tile, priority] : prefetches.tiles) prefetch(tile, worker.node, priority);
  if (state_.options.write_back) {
    std::vector<TileId> results;
    {
      const Lock lock(mutex_);
      results = results_of_requested(state_, worker);
    }
    write_back(results);
  }
  std::vector<int> sleepers;
  {
    const Lock lock(mutex_);
    fetches_issued(worker);
    if (!worker.present) hand_back(state_, worker), sleepers = wake_others(state_, worker.id);
  }
  wake(sleepers);
}

// --- Tasks run -------------------------------------------------------------------------------------------------------

void Policy::starts(starpu_task* task, int id) {
  std::vector<int> sleepers;
  {
    const Lock lock(mutex_);
    // Workers that wait for a tile of the task can have it now.
    const bool outlives = task->nb_termination_call_required > 0;  // see starpu_task_end_dep_add
    if (task_starts(state_, id_of(task), id, now(), outlives)) sleepers = wake_others(state_, id);
  }
  wake(sleepers);
}

void Policy::ends(starpu_task* task, int id) {
  const auto tiles = tiles_of(task);
  std::vector<TileId> results;
  {
    const Lock lock(mutex_);
    results = task_ends(state_, id_of(task), tiles, id, now());
  }
  write_back(results);
}

tessera_sched_counts Policy::statistics() {
  const Lock lock(mutex_);
  return count_until(state_, now());
}

// --- Workers come and go ---------------------------------------------------------------------------------------------

void Policy::add_workers(const int* workers, unsigned count) {
  const Lock lock(mutex_);
  for (unsigned i = 0; i < count; i++) add(workers[i]);
  place_shared_again(state_);
}

void Policy::add(int id) {
  const auto node = starpu_worker_get_memory_node(static_cast<unsigned>(id));
  add_worker(state_, id, node, starpu_node_get_kind(node) == STARPU_CPU_RAM);
}

void Policy::remove_workers(const int* workers, unsigned count) {
  const Lock lock(mutex_);
  for (unsigned i = 0; i < count; i++)
    if (auto* worker = find_worker(state_, workers[i]); worker != nullptr) remove_worker(state_, *worker);
}

/// StarPU reports neither that a worker leaves a context, nor that a codelet changes its mind. So workers without tasks
/// look from time to time.
void Policy::look_around(double time) {
  if (time < looked_around_ + look_interval) return;
  looked_around_ = time;
  const auto members = state_.members;
  for (auto* worker : members)
    if (starpu_sched_ctx_contains_worker(worker->id, context_) == 0) remove_worker(state_, *worker);
  place_refused_again(state_);
}

}  // namespace tessera::scheduler
