// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <starpu_scheduler.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <thread>
#include <utility>

#include "ideas/accounting.hpp"
#include "ideas/membership.hpp"
#include "ideas/memory_limits.hpp"
#include "ideas/running.hpp"
#include "ideas/turn.hpp"

namespace tessera::scheduler {

namespace {

/// The current time of StarPU's clock [s], which is simulated time in a simulation.
double now() { return 1e-6 * starpu_timing_now(); }

/// Whether StarPU's workers ask for tasks again and again until they get one. In other builds of StarPU, and in
/// simulated time, a worker that got none may sleep and must be woken.
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

/// Makes a worker that found no task ask again, because no event will wake it. Workers that poll ask again anyway. In
/// simulated time, sleeping is what lets the time pass.
/// @param seconds  until it must ask again
void stay_awake([[maybe_unused]] int worker, [[maybe_unused]] double seconds) {
  if constexpr (workers_poll) return;
#ifdef STARPU_SIMGRID
  starpu_worker_relax_on();
  starpu_sleep(static_cast<float>(std::min(seconds, Polling::with_reserved)));
  starpu_worker_relax_off();
#endif
  wake(worker);
}

/// Warns of a task that cannot fit: StarPU would silently look for room forever.
void warn_too_large(const Task& task, const Worker& worker) {
  constexpr double mib = 1024.0 * 1024.0;
  const char* name = starpu_task_get_name(task_of(task.id));
  std::fprintf(stderr,
               "tessera scheduling policy: the tiles of a task%s%s take %.1f MiB, but the memory of worker %d has %.1f "
               "MiB: the task may never start\n",
               name != nullptr ? " " : "", name != nullptr ? name : "",
               static_cast<double>(distinct_memory(task)) / mib, worker.id, static_cast<double>(worker.memory) / mib);
}

/// Yields the core of an idle CPU worker to other threads. StarPU's workers poll without a pause, and would otherwise
/// take cores from the threads that submit tasks. The threads that drive GPUs poll for events, so they keep their
/// cores.
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
    : context_(context), backend_(context), state_(options, STARPU_NMAXWORKERS, backend_) {
  state_.workers_poll = workers_poll;
}

// --- Tasks arrive ----------------------------------------------------------------------------------------------------

bool Policy::submitted(starpu_task* task) {
  const bool executed = task->cl != nullptr && task->cl->where != STARPU_NOWHERE && task->where != STARPU_NOWHERE;
  if (!executed) return false;
  const auto tiles = submitted_tiles(task);
  const Lock lock(mutex_);
  task_submitted(state_, id_of(task), tiles, task->priority, task->flops);
  return true;
}

void Policy::push(starpu_task* task) {
  int sleeper = no_worker;
  const double begin = now();
  auto description = describe(task);
  {
    const Lock lock(mutex_);
    state_.now = std::max(state_.now, begin);
    sleeper = task_ready(state_, std::move(description));
    starpu_push_task_end(task);
    state_.counts.in_push += now() - begin;
  }
  if (sleeper != no_worker) wake(sleeper);
}

// --- A worker asks for a task ----------------------------------------------------------------------------------------

starpu_task* Policy::pop(int id) {
  auto* const worker = find_worker(state_, id);
  if (worker == nullptr) return nullptr;
  const double begin = now();
  if (worker->asleep && (state_.waiting == 0 || (workers_poll && !worker->polling.is_due(begin)))) {
    yield(id);
    return nullptr;
  }
  Turn turn;
  {
    const Lock lock(mutex_);
    if (!worker->present && backend_.is_member(id)) add(id);
    if (!worker->present) return nullptr;
    if (worker->memory == 0) find_device(*worker);
    turn = take_turn(state_, *worker, begin);
    if (turn.too_large && !std::exchange(said_too_large_, true)) warn_too_large(*worker->popped.back().task, *worker);
    if (turn.task != nullptr) state_.counts.in_pop += now() - begin;
  }
  request(*worker, turn.prefetches);
  wake(turn.wake);
  if (turn.look_again > 0) stay_awake(id, turn.look_again);
  return task_of(turn.task);
}

/// Asks StarPU for the worker's device, its memory and the links. StarPU knows them only after its drivers have
/// started.
void Policy::find_device(Worker& worker) {
  if (!std::exchange(links_known_, true)) state_.cache.set_links(measured_links());
  const auto memory = starpu_memory_get_total(worker.node);  // negative: unlimited
  worker.memory = memory < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(memory);
  set_device(state_, worker, name_of(worker.id));
}

/// Requests tiles without holding the lock. The tasks are marked `issuing`, so no other worker takes them meanwhile.
void Policy::request(Worker& worker, const Prefetches& prefetches) {
  if (prefetches.tasks.empty() && prefetches.tiles.empty() && prefetches.relayed.empty()) return;
  for (auto* const task : prefetches.tasks)
    starpu_prefetch_task_input_for(task_of(task), static_cast<unsigned>(worker.id));
  for (const auto& [tile, priority] : prefetches.tiles) prefetch(tile, worker.node, priority);
  for (const auto& [tile, node, priority] : prefetches.relayed) prefetch_for_no_task(tile, node, priority);
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
    // Workers that wait for a tile of the task may copy it now.
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

}  // namespace tessera::scheduler
